"""What can stand at a place in an expression."""

from __future__ import annotations

from typing import Any

import pytest

from muster.questions.asked import Scope
from tests.builders import a_cluster, a_taint
from tests.questions.observing import EVERYTHING, an_observer, answer

LABELS = "managedCluster.metadata.labels"
FLEET = (
    a_cluster(
        "c1",
        {"cloud": "Amazon", "app.io/name": "x"},
        {"id.k8s.io": "a'1", "product": "OpenShift"},
        version={"kubernetes": "v1.30.1"},
        conditions=[{"type": "Joined", "status": "True"}],
    ),
    a_cluster("c2", {"cloud": "Azure"}, {"id.k8s.io": "b2"}, taints=[a_taint("gpu")]),
    a_cluster("c3", {"cloud": "Amazon"}),
)


def completion(text: str, scope: Scope = EVERYTHING, **spec: Any) -> Any:
    """`|` marks the caret."""
    position = text.index("|")
    asked = {"expression": text.replace("|", ""), "position": position, **spec}
    return answer(an_observer(*FLEET), "Completion", asked, scope)


def items(text: str, scope: Scope = EVERYTHING) -> list[tuple[str, int | None]]:
    found = completion(text, scope)["items"]
    return [(each["text"], each.get("count")) for each in found if each["kind"] not in ("function", "macro")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("manag|", [("managedCluster", None)]),
        ("tr|", [("true", None)]),
        (
            "managedCluster.|",
            [("apiVersion", None), ("kind", None), ("metadata", None), ("spec", None), ("status", None)],
        ),
        ("managedCluster.sta|", [("status", None)]),
        ("managedCluster.status.ver|", [("version", None)]),
        ("managedCluster.metadata.creat|", [("creationTimestamp", None)]),
        (f"{LABELS}.|", [("cloud", 3), ("`app.io/name`", 1)]),
        (f"{LABELS}.`app|", [("`app.io/name`", 1)]),
        (f"{LABELS}.?cl|", [("cloud", 3)]),
        (f"has({LABELS}.c|)", [("cloud", 3)]),
        (f"{LABELS}['|", [("cloud", 3), ("app.io/name", 1)]),
        (f'{LABELS}["app|"]', [("app.io/name", 1)]),
        (f"{LABELS}.cloud == '|", [("Amazon", 2), ("Azure", 1)]),
        (f"{LABELS}['cloud'] != \"am|\"", [("Amazon", 2)]),
        (f"{LABELS}.cloud in ['Amazon', '|", [("Amazon", 2), ("Azure", 1)]),
        (f"{LABELS}.cloud.startsWith('Az|')", [("Azure", 1)]),
        ("managedCluster.status.version.kubernetes == '|'", [("v1.30.1", 1)]),
        ("managedCluster.status.clusterClaims.exists(c, c.|", [("name", None), ("value", None)]),
        ("managedCluster.status.clusterClaims.exists(c, c.name == '|", [("id.k8s.io", 2), ("product", 1)]),
        (
            "managedCluster.status.clusterClaims.exists(c, c.name == 'id.k8s.io' && c.value == '|",
            [("a\\'1", 1), ("b2", 1)],
        ),
        ("managedCluster.status.conditions.exists(c, c.type == '|", [("Joined", 1)]),
        ("managedCluster.spec.taints.all(t, t.key != '|", [("gpu", 1)]),
        ("'|", []),
        ("nobody.|", []),
        ("managedCluster.nothing.at.all.|", []),
        (f"{LABELS}.nothing == '|", []),
    ],
)
def test_what_can_stand_there(text: str, expected: list[tuple[str, int | None]]) -> None:
    assert items(text) == expected


def test_the_part_that_an_item_replaces_is_told() -> None:
    found = completion(f"{LABELS}.clo|ud == 'x'")

    assert (found["from"], found["to"]) == (len(LABELS) + 1, len(LABELS) + 6)
    inside = completion(f"{LABELS}.cloud == 'A|zure' && true")
    assert f"{LABELS}.cloud == 'Azure' && true"[inside["from"] : inside["to"]] == "Azure"


def test_functions_fit_what_they_are_called_on() -> None:
    def functions(text: str) -> set[str]:
        found = completion(text, mostItems=500)["items"]
        return {each["text"] for each in found if each["kind"] in ("function", "macro")}

    assert {"startsWith", "matches"} <= functions(f"{LABELS}.cloud.|")
    assert "exists" not in functions(f"{LABELS}.cloud.|")
    assert {"exists", "all", "filter"} <= functions("managedCluster.status.clusterClaims.|")
    assert {"has", "size", "semver", "base64.decode"} <= functions("|")


def test_every_completion_of_a_label_compiles() -> None:
    from muster.cel.environments import environment
    from muster.cel.program import compile_program

    for text in (f"{LABELS}.|", f"{LABELS}['|']", f"{LABELS}.cloud == '|'"):
        found = completion(text)
        plain = text.replace("|", "")
        for each in found["items"]:
            if each["kind"] in ("label", "value"):
                compile_program(plain[: found["from"]] + each["text"] + plain[found["to"] :], environment("muster"))


def test_who_may_get_some_completes_with_what_these_have() -> None:
    some = Scope(names=frozenset({"c2"}), bound="apps")

    assert items(f"{LABELS}.|", some) == [("cloud", 1)]
    assert items(f"{LABELS}.cloud == '|", some) == [("Azure", 1)]
    assert items(f"{LABELS}.cloud == '|", Scope()) == []


@pytest.mark.parametrize(
    "text", ["", "'", '"""', "a.b[", "`", "))((", "managedCluster" + ".a" * 2000, "x" * 10_000, "[" * 3000]
)
def test_nothing_that_is_begun_breaks_it(text: str) -> None:
    found = completion(f"{text}|")

    assert 0 <= found["from"] <= found["to"] <= len(text)
