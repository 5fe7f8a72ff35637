"""Plain values are read as typer reads them, for every parameter of every command."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer._click.core import Context
from typer._click.exceptions import BadParameter
from typer._coercion import build_runtime_param
from typer.core import TyperArgument, TyperOption

from muster.cli.terminal.plain_values import PlainParam
from tests.cli.tree import all_commands

COMMANDS = all_commands()
KINDS = {
    (str(param.type_descriptor.annotation), param.multiple or param.nargs == -1): (command, param)
    for command in COMMANDS.values()
    for param in command.params
    if isinstance(param, TyperArgument | TyperOption)
}
"""One parameter of each kind there is."""
WORDS = [str(each) for _, param in KINDS.values() for each in param.type_descriptor.choices or ()]
TEXTS = st.text(max_size=5) | st.sampled_from(["", "5", "-1", "true", "\udcff", "é\n", "TEXT", *WORDS])


def read(reader: Any, value: Any, param: Any, ctx: Context) -> tuple[str, Any]:
    try:
        found = reader.coerce(value, param, ctx)
    except BadParameter as error:
        return "refused", error.message
    return type(found).__name__, found


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(text=TEXTS, texts=st.lists(TEXTS, max_size=3))
def test_what_is_typed_is_read_as_typer_reads_it(kind: tuple[str, bool], text: str, texts: list[str]) -> None:
    command, param = KINDS[kind]
    ctx = Context(command)
    value: Any = tuple(texts) if kind[1] else text
    theirs = read(build_runtime_param(param.type_descriptor), value, param, ctx)
    assert read(PlainParam(param.type_descriptor), value, param, ctx) == theirs
    default = param.default
    if default is not None and not callable(default):
        theirs = read(build_runtime_param(param.type_descriptor), default, param, ctx)
        assert read(PlainParam(param.type_descriptor), default, param, ctx) == theirs
