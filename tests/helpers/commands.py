"""Every command, by the words that call it."""

from typing import Any

import typer

from evenhand.cli.app import app

ROOT: Any = typer.main.get_command(app)
GROUPS: dict[str, dict[str, Any]] = {
    name: each.commands for name, each in ROOT.commands.items() if hasattr(each, "commands")
}
EVERY: dict[str, Any] = {name: command for name, command in ROOT.commands.items() if name not in GROUPS}
EVERY |= {f"{group} {name}": command for group, found in GROUPS.items() for name, command in found.items()}
