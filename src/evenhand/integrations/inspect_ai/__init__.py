"""Questions with options and NLI pairs as tasks of inspect_ai, which finds them by an entry point: `evenhand/nli`."""

from evenhand.core.extras import need

need("inspect", "A task of inspect_ai")

from evenhand.integrations.inspect_ai.tasks import bbq, nli, nli_coal  # noqa: E402  (the host may be missing)

__all__ = ["bbq", "nli", "nli_coal"]
