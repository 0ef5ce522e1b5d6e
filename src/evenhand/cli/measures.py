"""`evenhand measures`: list the measures."""

import math

from evenhand.cli import terminal
from evenhand.cli.common import Plugins


def measures(plugin: Plugins = None) -> None:
    """List the measures and how to read them."""
    from evenhand.core.measure import Traits
    from evenhand.measures import MEASURES

    for name, measure in sorted(MEASURES.items()):
        neutral = "no neutral value" if math.isnan(measure.neutral) else f"neutral at {measure.neutral:g}"
        terminal.show(f"{name} (version {measure.version}, {neutral})")
        terminal.show(f"    {(measure.__doc__ or '').splitlines()[0]}\n    {measure.reading}")
        if answers := Traits.of(measure).answers:
            terminal.show(f"    made of {', '.join(answers)}")
