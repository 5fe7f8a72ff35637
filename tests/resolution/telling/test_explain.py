"""One package in the light of a plan."""

from __future__ import annotations

from muster.resolution import Resolved, resolve
from muster.resolution.telling.explain import explain_package
from tests.resolution.builders import (
    a_catalog,
    bundle,
    needs,
    needs_api,
    wanting,
)


def test_explain_says_why_this_version_and_why_not_another() -> None:
    catalog = a_catalog(bundle("a", "1.0.0"), bundle("a", "2.0.0", needs("d")), bundle("d", "1.0.0", needs_api("X")))
    outcome = resolve(wanting("a")(catalog))
    assert isinstance(outcome, Resolved)
    assert str(explain_package(outcome, "a")).splitlines() == [
        "a: a.v1.0.0 is chosen",
        "  because you want a",
        "  a.v2.0.0 (cat, stable): preferred, but it cannot be:",
        "    a 2.0.0 needs an operator of package d in >=0.0.0, which is d 1.0.0",
        "    d 1.0.0 needs an operator that provides X (g/v1), and there is none",
    ]
    assert str(explain_package(outcome, "zzz")) == "zzz: no catalog has it"
    assert (
        str(explain_package(outcome, "d")).splitlines()[0]
        == "d: it could meet a requirement, but others were preferred"
    )
