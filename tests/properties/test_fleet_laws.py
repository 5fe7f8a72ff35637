"""Laws of the fleet: after any events its masks are those of naive evaluation by CEL's tracing interpreter."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.cel.environments import environment
from muster.cel.program import compile_program
from muster.errors import EvaluationError
from muster.fleet import Fleet, score_of
from muster.selectors import Verdict
from muster.selectors.cel import cel_compiler, typed_view
from muster.selectors.paths import SCORES
from tests.builders import a_cluster, a_score

EXPRESSIONS = [
    "managedCluster.metadata.labels['env'] == 'prod'",
    "managedCluster.metadata.labels.env.matches('^p') || managedCluster.metadata.name == 'b'",
    "has(managedCluster.metadata.labels.env) && managedCluster.metadata.labels.size() > 1",
    "managedCluster.status.clusterClaims.exists(c, c.name == 'region' && c.value.startsWith('e'))",
    "managedCluster.status.clusterClaims.all(c, c.name != 'region' || c.value == 'us')",
    "managedCluster.scores('usage').exists(s, s.name == 'cpu' && s.value > 3)",
    "managedCluster.?status.?version.?kubernetes.orValue('none') == 'none'",
    "managedCluster.metadata.labels.exists(k, managedCluster.scores(k).size() > 0)",
    "true",
]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = st.sampled_from("abc")
LABELS = st.dictionaries(st.sampled_from(["env", "tier", "usage"]), st.sampled_from(["prod", "dev"]), max_size=3)
CLAIMS = st.dictionaries(st.sampled_from(["region", "id"]), st.sampled_from(["eu", "us"]), max_size=2)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), NAMES, LABELS, CLAIMS),
        st.tuples(st.just("remove"), NAMES),
        st.tuples(st.just("score"), NAMES, st.sampled_from(["usage", "env"]), st.integers(0, 6), st.booleans()),
        st.tuples(st.just("no score"), NAMES, st.sampled_from(["usage", "env"])),
    ),
    max_size=20,
)


@settings(max_examples=60)
@given(events=EVENTS)
def test_after_any_events_the_masks_are_those_of_the_interpreter(events: list[tuple[Any, ...]]) -> None:
    fleet = Fleet()
    fleet.advance(NOW)
    selectors = [part for text in EXPRESSIONS for part in cel_compiler(fleet.scores)([text])]
    for number, selector in enumerate(selectors):
        fleet.subscribe(number, [selector], [])
    clusters: dict[str, dict[str, Any]] = {}
    scores: dict[tuple[str, str], Any] = {}
    for event in events:
        before = [_naive(text, clusters, scores) for text in EXPRESSIONS]
        told = _happen(fleet, clusters, scores, event)
        after = [_naive(text, clusters, scores) for text in EXPRESSIONS]
        assert told == {number for number in range(len(EXPRESSIONS)) if before[number] != after[number]}
    for number, text in enumerate(EXPRESSIONS):
        verdicts = fleet.mask(selectors[number]).verdicts
        found = {name: Verdict(int(verdicts[fleet.row(name) or 0])) for name in clusters}
        assert {name: verdict for name, verdict in found.items() if verdict} == _naive(text, clusters, scores)


def _happen(fleet: Fleet, clusters: dict[str, Any], scores: dict[Any, Any], event: tuple[Any, ...]) -> frozenset[Any]:
    match event:
        case ("put", name, labels, claims):
            clusters[name] = a_cluster(name, labels, claims, conditions=[], version={})
            return fleet.put(msgspec.json.encode(clusters[name]))
        case ("remove", name):
            clusters.pop(name, None)
            return fleet.remove(name)
        case ("score", name, score, value, expired):
            until = "2025-01-01T00:00:00Z" if expired else None
            scores[name, score] = score_of(a_score(name, {"cpu": value}, score, until))
            return fleet.put_score(name, score, scores[name, score])
        case (_, name, score):
            scores.pop((name, score), None)
            return fleet.remove_score(name, score)
    raise AssertionError(event)


def _naive(text: str, clusters: dict[str, Any], scores: dict[Any, Any]) -> dict[str, Verdict]:
    """Who is selected or in error; everybody else is a no."""
    program = compile_program(text, environment("muster"))
    verdicts = {}
    for name, cluster in clusters.items():
        own = {
            score: found.items for (owner, score), found in scores.items() if owner == name and not found.expired(NOW)
        }
        view = {**typed_view(msgspec.json.decode(msgspec.json.encode(cluster))), SCORES: own}
        value = program.trace({"managedCluster": view}).outcome
        verdicts[name] = Verdict.ERROR if isinstance(value, EvaluationError) else Verdict(int(value))
    return {name: verdict for name, verdict in verdicts.items() if verdict}
