"""About api/jsonpath.py: what is expected here is what client-go's package of that name answered for the same path."""

from __future__ import annotations

import time
from typing import Any

import pytest

from muster.api.jsonpath import MOST_VALUES, compile_path
from muster.errors import InvalidObjectError

OBJ: dict[str, Any] = {
    "a": {"b": "x", "c": [1, 2, 3], "d.e": "dotted", "n": None, "f": 1.5, "z": [], "m": {"k": "v"}},
    "conditions": [
        {"type": "Ready", "status": "True", "n": 1, "f": 0.5, "nested": {"a": [1, 2]}},
        {"type": "Other", "status": "False", "n": 5, "b": True, "x": None},
        {"type": "A,B)", "status": "?", "n": 7},
    ],
    "l": [[1, 2], [3, 4]],
    "mixed": [1, "a", {"q": 1}],
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".a.b", ["x"]),
        (r".a.d\.e", ["dotted"]),
        (r".a['d\.e']", ["dotted"]),
        (".a['d.e']", []),  # the same as .a.d.e
        (".a['b','f']", ["x", 1.5]),
        (".a.n", [None]),
        (".a.n.x", []),
        (".a.c[0]", [1]),
        (".a.c[-1]", [3]),
        (".a.c[]", [1]),
        (".a.c[3]", []),
        (".a.c[*]", [1, 2, 3]),
        (".a.c[1:]", [2, 3]),
        (".a.c[:-1]", [1, 2]),
        (".a.c[::2]", [1, 3]),
        (".a.c[::0]", []),
        (".a.c[2:1]", []),
        (".a.c[0:9]", []),
        (".a.c[0, 2]", [1, 3]),
        (".a.z[*]", []),
        (".a[*]", []),
        (".a.m.*", ["v"]),
        (".l[*][1]", [2, 4]),
        (".conditions[*].type", ["Ready", "Other", "A,B)"]),
        ('.conditions[?(@.type=="Ready")].status', ["True"]),
        (".conditions[?(@.type=='Ready')].status", ["True"]),
        ('.conditions[?( @.type == "Ready" )].status', ["True"]),
        ('.conditions[?(@.type=="A,B)")].status', ["?"]),
        ('.conditions[?(@.type!="Ready")].n', [5, 7]),
        (".conditions[?(@.n>=5)].n", [5, 7]),
        (".conditions[?(@.n<5)].n", [1]),
        (".conditions[?(@.b==true)].n", [5]),
        (".conditions[?(@.x)].n", [5]),
        (".conditions[?(@.nested.a[1]==2)].type", ["Ready"]),
        (".conditions[?(@.nested.a[*]==2)].type", []),  # one thing with one other
        (".conditions[?(@.n==1.0)].type", []),  # types that cannot be compared
        (".conditions[?(@.type==Ready)].n", []),
        (".mixed[?(@>1)]", []),
        (".mixed[?(@.q==1)]", [{"q": 1}]),
        (".a..k", ["v"]),
        ("..type", ["Ready", "Other", "A,B)"]),
        (".a range", []),
        (".no.where", []),
    ],
)
def test_a_path_finds_what_a_server_finds(path: str, found: list[Any]) -> None:
    assert compile_path(path).values(OBJ) == found


@pytest.mark.parametrize(
    "path",
    ['.a["b"]', ".a[", ".a]", ".a,b", ".a[x]", ".a[--1]", ".....a", "..*", ".a\\", '.a[?(@.t=="x"]', ".a 5.5.5"],
)
def test_what_a_server_cannot_read_is_refused(path: str) -> None:
    with pytest.raises(InvalidObjectError):
        compile_path(path)


def test_a_path_without_end_is_given_up() -> None:
    deep: dict[str, Any] = {}
    for _ in range(90):
        deep = {"a": deep, "b": {}}
    started = time.process_time()
    assert compile_path("..a" * 20).values(deep) == []
    assert compile_path(".l[*]").values({"l": [0] * (MOST_VALUES + 1)}) != []
    assert compile_path(".l[*].a").values({"l": [0] * (MOST_VALUES + 1)}) == []
    assert time.process_time() - started < 2
