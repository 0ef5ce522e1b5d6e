"""An extension of griffe, which mkdocstrings reads code with: functions with all that their parameters say."""

import inspect
import re
from importlib import import_module
from typing import Any

import griffe


class Described(griffe.Extension):
    """Takes signature and documentation of described functions (evenhand.core.parameters) as Python has them."""

    def on_function_instance(self, *, func: griffe.Function, **_: Any) -> None:
        if not any(str(decorator.value).startswith("describe(") for decorator in func.decorators):
            return
        function = getattr(import_module(func.module.path), func.name)
        signature = inspect.signature(function)
        func.parameters = griffe.Parameters(
            *(
                griffe.Parameter(
                    one.name,
                    annotation=None
                    if one.annotation is one.empty
                    else re.sub(r"\b([a-z_]+\.)+", "", inspect.formatannotation(one.annotation)),
                    kind=griffe.ParameterKind[one.kind.name.lower()],
                    default=None if one.default is one.empty else repr(one.default),
                )
                for one in signature.parameters.values()
            )
        )
        func.docstring = griffe.Docstring(function.__doc__, parser="google", parent=func)
