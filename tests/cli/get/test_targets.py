"""What `muster get` is asked for."""

from __future__ import annotations

import pytest

from muster.cli.get.targets import Target, targets
from muster.errors import InvalidObjectError


@pytest.mark.parametrize(
    ("resource", "names", "expected"),
    [
        ("mcl", [], [Target("mcl")]),
        ("mcl", ["a", "b"], [Target("mcl", ("a", "b"))]),
        ("a,b", [], [Target("a"), Target("b")]),
        ("a,a", [], [Target("a")]),
        ("mcl/x", [], [Target("mcl", ("x",))]),
        ("mcl/x", ["p/y", "mcl/z"], [Target("mcl", ("x", "z")), Target("p", ("y",))]),
    ],
)
def test_every_spelling_is_understood(resource: str, names: list[str], expected: list[Target]) -> None:
    assert targets(resource, names) == expected


@pytest.mark.parametrize(
    ("resource", "names"), [("a,,b", []), ("a/x", ["y"]), ("a", ["b/y"]), ("a/", []), ("a,b/c", [])]
)
def test_what_mixes_them_is_refused(resource: str, names: list[str]) -> None:
    with pytest.raises(InvalidObjectError):
        targets(resource, names)
