"""The reader of recorded exchanges: what it keeps of a body, and what a form is."""

from __future__ import annotations

import pytest

from tests.conformance.kube.exchanges import kept, shape


def test_a_body_is_cut_by_the_rules_of_the_recorder() -> None:
    body = {
        "items": [{"metadata": {"name": name}} for name in ("a", "b", "c")],
        "paths": {"/x": 1, "/y": 2, "/xy": 3},
        "info": {"title": "t", "version": "v"},
    }
    rules = [
        ["items", ["items"], ["metadata", "name"], ["a", "c"]],
        ["contains", ["paths"], "y"],
        ["drop", ["info", "title"]],
    ]
    assert kept(body, rules) == {
        "items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "c"}}],
        "paths": {"/y": 2, "/xy": 3},
        "info": {"version": "v"},
    }
    assert kept(body, [["keys", ["paths"], ["/x"]]])["paths"] == {"/x": 1}
    assert kept({"kind": "Status"}, rules) == {"kind": "Status"}


def test_a_rule_that_nobody_knows_is_no_rule() -> None:
    with pytest.raises(ValueError, match="does not know"):
        kept({}, [["sort", []]])


def test_a_form_is_names_and_types() -> None:
    assert shape({"a": "x", "b": [1, 2], "c": None}) == {"a": "str", "b": ["int"], "c": "NoneType"}
