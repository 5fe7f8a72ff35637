"""Whatever the declarations state is executed: every example of every function and macro, in every environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from muster.cel.environments import NAMES, environment
from muster.cel.libraries.reference import page
from muster.cel.program import compile_program
from muster.cel.values import type_of
from tests.cel.comparing import equals

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "cel-functions.md"


def all_examples() -> list[Any]:
    """(environment, expression, value), each expression in the first environment that has it."""
    seen: dict[str, tuple[str, Any]] = {}
    for name in NAMES:
        env = environment(name)
        documented = [
            *(function.examples for function in env.functions.values()),
            *(macro.examples for macro in env.macros.values()),
        ]
        for examples in documented:
            for text, value in examples.items():
                seen.setdefault(f"{name if 'format(' in text else ''}{text}", (name, value))
    return [pytest.param(name, text.removeprefix(name), value, id=text) for text, (name, value) in seen.items()]


@pytest.mark.parametrize(("env_name", "text", "value"), all_examples())
def test_an_example_gives_the_value_it_states(env_name: str, text: str, value: Any) -> None:
    result = compile_program(text, environment(env_name)).evaluate({})
    assert equals(result, value)
    assert type_of(result) == type_of(value)


def test_every_function_that_people_call_has_a_doc_and_an_example() -> None:
    bare = {
        function.name
        for name in NAMES
        for function in environment(name).functions.values()
        if "@" not in function.name and not (function.doc and function.examples)
    }
    # A score needs a cluster; a format is shown by `validate`.
    assert {name for name in bare if not name.startswith("format.")} == {"scores"}


@pytest.mark.parametrize("name", NAMES)
def test_overload_ids_are_unique_within_an_environment(name: str) -> None:
    ids = [overload.id for function in environment(name).functions.values() for overload in function.overloads]
    assert sorted(ids) == sorted(set(ids))


def test_the_reference_page_is_current() -> None:
    assert REFERENCE.read_text(encoding="utf-8") == page()
