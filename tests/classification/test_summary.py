"""Many agents in few words."""

from __future__ import annotations

from muster.classification import OutcomeGroup, classify, outcome_groups
from muster.classification.outcomes import MATCH, NO_MATCH, failed


def test_agents_are_counted_by_outcome_with_some_names() -> None:
    spec = {"labelKey": "size", "labelValue": "big", "query": ".cpu.count - .hostname > 4"}
    agents = [
        {"metadata": {"name": f"a{number:03}"}, "status": {"inventory": {"cpu": {"count": number}, "hostname": 2}}}
        for number in range(100)
    ]
    agents += [{"metadata": {"name": f"b{number}"}, "status": {"inventory": {"hostname": "h"}}} for number in range(2)]
    agents += [{"metadata": {"name": "c"}}]
    found = classify([{"metadata": {"name": "big"}, "spec": spec}], agents)
    assert outcome_groups(found.agents, "big") == (
        OutcomeGroup(MATCH, 93, ("a007", "a008", "a009", "a010", "a011")),
        OutcomeGroup(failed('cannot subtract: null and string ("h")'), 2, ("b0", "b1")),
        OutcomeGroup(failed("cannot subtract: null and null"), 1, ("c",)),
        OutcomeGroup(NO_MATCH, 7, ("a000", "a001", "a002", "a003", "a004")),
    )


def test_no_agents_are_no_groups() -> None:
    assert outcome_groups((), "big") == ()
