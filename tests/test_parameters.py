"""Each parameter is written once: a command and the function that it calls have it from the same record."""

import inspect
from typing import Any

import pytest
import typer

import evenhand
from evenhand.calls.learning import learned
from evenhand.cli.app import app
from evenhand.core.parameters import Several

ROOT: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = {**ROOT.commands, "lint": ROOT.commands["datasets"].commands["lint"]}
FUNCTIONS: dict[str, Any] = {name: getattr(evenhand, name) for name in COMMANDS if name in evenhand.__all__}
FUNCTIONS |= {"audit": evenhand.sweep, "import": evenhand.from_scores, "corpus": learned}
OWN = {("corpus", "lines"), ("corpus", "out"), ("corpus", "seed")}  # which are those of counting
LEFT_TO_PYTHON = {"audit suite", "track suite", "swap column", "swap names"}
"""Options that are None unless they are given: then the function's own default counts."""
MADE_UP = {"audit models": None, "debias out": "runs/debiased"}
"""What the command line has by default, and a function must be given."""
SHARED = [
    pytest.param(option, FUNCTIONS[command], id=f"{command} {option.name}")
    for command in FUNCTIONS
    for option in COMMANDS[command].params
    if option.name in inspect.signature(FUNCTIONS[command]).parameters and (command, option.name) not in OWN
]


def test_commands_and_functions_have_most_of_their_parameters_in_common() -> None:
    names = {"audit", "compare", "corpus", "debias", "doctor", "export", "import", "lint", "rescore", "swap", "table"}
    assert set(FUNCTIONS) == names | {"track"}
    assert len(SHARED) > 100


@pytest.mark.parametrize(("option", "function"), SHARED)
def test_what_help_says_is_what_python_says(option: Any, function: Any) -> None:
    record = function.parameters[option.name]
    repeated = " Repeatable." if isinstance(record, Several) else ""
    assert option.help == record.text + repeated
    assert f"    {option.name}: {record.text.split()[0]}" in (inspect.getdoc(function) or "")


@pytest.mark.parametrize(("option", "function"), SHARED)
def test_an_option_that_is_not_given_is_the_default_of_python(
    option: Any, function: Any, request: pytest.FixtureRequest
) -> None:
    default = inspect.signature(function).parameters[option.name].default
    name = request.node.callspec.id
    if name in LEFT_TO_PYTHON:
        assert option.default is None is not default
    elif name in MADE_UP:
        assert (option.required, default, option.default) == (False, inspect.Parameter.empty, MADE_UP[name])
    elif option.required:
        assert default is inspect.Parameter.empty
    else:
        assert (option.default or None) == (default or None)


def test_a_signature_has_all_by_name_and_the_documentation_a_line_for_each() -> None:
    parameters = inspect.signature(evenhand.audit).parameters
    assert {"suite", "limit", "dtype", "base_url", "out", "gate"} < set(parameters)
    assert not any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    assert parameters["seed"].default == 0
    assert "\n    seed: The random seed" in (evenhand.audit.__doc__ or "")
