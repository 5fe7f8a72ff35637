"""The surface of the package is what `__all__` says, and its documentation runs."""

from __future__ import annotations

import re
from pathlib import Path

import muster.cel
from muster.cel import Variable, compile_program, environment
from muster.cel.checking.types import DYN

REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "cel.md"


def test_all_names_exist_and_are_sorted_as_they_are_listed() -> None:
    assert len(set(muster.cel.__all__)) == len(muster.cel.__all__)
    assert all(hasattr(muster.cel, name) for name in muster.cel.__all__)


def test_the_example_of_the_reference_gives_what_it_says() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert example is not None
    names: dict[str, object] = {}
    *setup, last = example.group(1).strip().splitlines()
    exec("\n".join(setup), names)
    assert eval(last.partition("#")[0], names) is True


def test_every_environment_is_in_the_reference() -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    for name in ("kubernetes-1.28", "kubernetes-1.37", "ocm", "olm", "muster", "standard"):
        assert f"`{name}`" in text
        assert compile_program("1 + 1 == 2", environment(name)).evaluate({}) is True


def test_reads_of_the_reference_are_what_programs_say() -> None:
    env = environment("standard").extend(variables=[Variable("m", DYN)])
    assert compile_program("size(m) > 0", env).reads == frozenset({("m",)})
