"""A mask needs verdicts: however many clusters are judged, no reason is made until somebody asks for one."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from muster.fleet import Fleet
from muster.reasons import Reason
from muster.selectors import Match, Verdict
from muster.selectors.cel import cel_compiler
from muster.selectors.labels import compile_claim_selector, compile_label_selector
from muster.selectors.membership import membership
from tests.builders import a_cluster, a_set

LABELS = "managedCluster.metadata.labels"
SELECTORS = [
    *cel_compiler()((f"{LABELS}['tier'] == 'gold'",)),
    *cel_compiler()((f"int({LABELS}['tier']) == 1",)),
    *cel_compiler()((f"dyn({LABELS}['tier'])",)),
    compile_label_selector({"matchLabels": {"tier": "gold"}}),
    compile_claim_selector({"matchExpressions": [{"key": "os", "operator": "Exists"}]}),
    membership(a_set("prod", clusterSelector={"selectorType": "ExclusiveClusterSetLabel"})),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda each: type(each).__name__)
def test_no_reason_is_made_for_a_mask(selector: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Match] = []
    monkeypatch.setattr(Match, "why", property(asked.append))
    made: list[object] = []
    monkeypatch.setattr("muster.selectors.cel.Reason", made.append)
    monkeypatch.setattr("muster.selectors.labels.Reason", made.append)
    monkeypatch.setattr("muster.selectors.membership.Reason", made.append)
    fleet = Fleet()
    clusters = [a_cluster(f"c{number}", {"tier": f"t{number}"} if number % 3 else {}) for number in range(30)]
    fleet.put_many(msgspec.json.encode(cluster) for cluster in clusters)
    verdicts = fleet.mask(selector).verdicts
    assert set(verdicts.tolist()) & {Verdict.NO, Verdict.ERROR}
    assert (asked, made) == ([], [])


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda each: type(each).__name__)
def test_a_reason_is_made_once_when_it_is_asked_for(selector: Any) -> None:
    match = selector.match(a_cluster("c1", {"tier": "silver"}))
    assert isinstance(match.why, Reason)
    assert match.why is match.why
    assert match.reason
