"""The times of taints."""

from __future__ import annotations

from typing import Any

from muster.admission import Finding, Refusal, mutate
from muster.selectors.membership import DEFAULT_KEY
from tests.admission.writes import NOW_TEXT, a_write

BEFORE = "2020-01-01T00:00:00Z"


def taint(key: str, value: str = "v", time: str | None = None) -> dict[str, Any]:
    return {"key": key, "value": value, "effect": "NoSelect", **({"timeAdded": time} if time else {})}


def cluster(*taints: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": "c1", "labels": {DEFAULT_KEY: "default"}}
    return {"metadata": metadata, "spec": {"hubAcceptsClient": True, "taints": list(taints)}}


def times(finding: Finding) -> list[str | None]:
    assert finding.object is not None
    return [each.get("timeAdded") for each in finding.object["spec"]["taints"]]


def forbidden(keys: str) -> Finding:
    text = f'It is not allowed to set TimeAdded of Taint "{keys}".'
    return Finding(refusal=Refusal(400, "BadRequest", text))


def test_taints_of_a_new_cluster_get_the_present_time_whatever_it_says() -> None:
    finding = mutate(a_write("managedclusters", cluster(taint("a"), taint("b", time=BEFORE))))
    assert times(finding) == [NOW_TEXT, NOW_TEXT]


def test_a_new_taint_gets_the_present_time_and_others_keep_theirs() -> None:
    old = cluster(taint("a", time=BEFORE))
    new = cluster(taint("a", time=BEFORE), taint("b"))
    assert times(mutate(a_write("managedclusters", new, old))) == [BEFORE, NOW_TEXT]


def test_a_changed_taint_is_a_new_one() -> None:
    finding = mutate(a_write("managedclusters", cluster(taint("a", "w")), cluster(taint("a", "v", BEFORE))))
    assert times(finding) == [NOW_TEXT]


def test_an_unchanged_taint_without_its_time_keeps_it() -> None:
    finding = mutate(a_write("managedclusters", cluster(taint("a")), cluster(taint("a", time=BEFORE))))
    assert times(finding) == [BEFORE]


def test_nobody_chooses_the_time() -> None:
    old = cluster(taint("a", time=BEFORE))
    forged = cluster(taint("a", time="2019-01-01T00:00:00Z"), taint("b", time=BEFORE), taint("c"))
    assert mutate(a_write("managedclusters", forged, old)) == forbidden("a,b")
    changed = cluster(taint("a", "w", BEFORE))
    assert mutate(a_write("managedclusters", changed, old)) == forbidden("a")


def test_taints_with_one_key_are_told_apart_by_value_and_effect() -> None:
    old = cluster(taint("a", "1", BEFORE), taint("a", "2", "2021-01-01T00:00:00Z"))
    assert mutate(a_write("managedclusters", old, old)) == Finding()


def test_a_status_update_is_none_of_its_business() -> None:
    new = cluster(taint("a", time="2019-01-01T00:00:00Z"))
    assert mutate(a_write("managedclusters", new, cluster(), subresource="status")) == Finding()
