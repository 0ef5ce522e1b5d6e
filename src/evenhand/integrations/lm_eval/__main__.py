"""The harness's own command with the backend `evenhand`: python -m evenhand.integrations.lm_eval ..."""

import sys

from evenhand.core.foreign import need
from evenhand.errors import EvenhandError


def main() -> None:
    """Run the harness's command; our own errors are printed without a traceback."""
    try:
        need("lm-eval", "python -m evenhand.integrations.lm_eval")
        from lm_eval.__main__ import cli_evaluate

        from evenhand.integrations.lm_eval import backend  # noqa: F401  (the import registers the backend)

        cli_evaluate()
    except EvenhandError as error:
        print(f"evenhand: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
