"""What the probe of a server found, as findings of the doctor."""

from collections.abc import Iterator
from typing import cast

from evenhand.checks.base import Verdict
from evenhand.models.served.model import ServedModel
from evenhand.runs.record import Finding


def server(model: ServedModel) -> Iterator[Finding]:
    """What the server gives, and whether its numbers can be relied on; one that cannot be was refused before."""
    for check, verdict, says, do in model.probed.remarks:
        yield Finding(check, cast("Verdict", verdict), says, do)
