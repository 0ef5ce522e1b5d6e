"""An option that has one value may be given once: of two values, one would be dropped without a word."""

from typing import Any

import typer.core

from evenhand.errors import BadInput


class Once(typer.core.TyperCommand):
    """A command that refuses an option given twice, unless it is a list."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        if not ctx.resilient_parsing:  # which shell completion is
            *_, given = self.make_parser(ctx).parse_args(args=list(args))
            for option in given:
                times = given.count(option)
                prints = option.is_eager and getattr(option, "is_flag", False)  # --help and the like
                if times > 1 and option.nargs == 1 and not (option.multiple or prints):
                    name = max(option.opts, key=len)
                    raise BadInput(f"{name} may be given once. Got it {times} times: run the command once for each.")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; evenhand ends it by `typer.Exit`, and an end by anything else is no success."""
        try:
            return super().invoke(ctx)
        except SystemExit as end:
            raise BadInput(f"Code that is not evenhand's ended the command: sys.exit({end.code!r}).") from end
