"""What is recorded: each output as a text, by the name of its file."""

from __future__ import annotations

import asyncio
import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from muster.cli.explain.text import cluster_lines, document, outlook_lines, placement_lines, set_lines
from muster.cli.history import history_lines
from muster.cli.terminal.paint import Paint
from muster.controllers.placements.changes import Noted, Pending
from muster.controllers.placements.drafts import Reasons, _scores_text
from muster.controllers.placements.moves import Basis, Move, MoveReport, examples_of, summary
from muster.controllers.placements.preview import settle, world_of
from muster.controllers.placements.readers import PLACEMENTS
from muster.controllers.questions.answering import QuestionService
from muster.controllers.questions.kinds import ExplainQuestion, Refusal
from muster.controllers.runtime.mirror import Stored
from muster.hub.requests import User
from muster.placement.explain.across_placements import explain_everywhere, explain_set
from muster.placement.explain.causes import Ref
from muster.placement.explain.explanation import explain_cluster, explain_placement
from muster.placement.explain.report import Window
from muster.placement.lint.placements import lint, vocabulary
from muster.selection import Snapshot, name_of, select
from tests.builders import a_cluster, a_placement
from tests.cli.explaining import called, written
from tests.golden import fleets
from tests.golden.operators import spoken
from tests.golden.readers import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.api.placement import Placement
    from muster.placement import ScheduleResult

Object = dict[str, Any]
NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN: Final = Paint(coloured=False)
FLEETS: Final = {"demo": fleets.demo, "odd": fleets.odd}
#: Those who may get no cluster, and some; who may get all sees everything.
READERS: Final = {"all": None, "some": ("a2", "a3", "b1", "t1", "t3"), "nothing": ()}


def recordings() -> Iterator[tuple[str, str]]:
    """Every file's name and what belongs into it."""
    for name, make in FLEETS.items():
        objects = make()
        snapshot = Snapshot(objects, NOW)
        yield f"{name}-placements.txt", _texts(_placements(snapshot))
        yield f"{name}-placements.jsonl", _json(_placement_documents(snapshot))
        yield f"{name}-clusters.txt", _texts(_clusters(snapshot))
        yield f"{name}-outlooks.txt", _texts(_outlooks(snapshot))
        yield f"{name}-status.jsonl", _json(_statuses(snapshot))
        yield f"{name}-lint.txt", _texts(_findings(snapshot))
    odd = Snapshot(fleets.odd(), NOW)
    yield "odd-clusters.jsonl", _json(_cluster_documents(odd))
    yield "odd-outlooks.jsonl", _json(_outlook_documents(odd))
    yield "odd-select.txt", _texts(_selections(fleets.odd()))
    for reader in READERS:
        yield f"odd-http-{reader}.jsonl", _json(_answers(fleets.odd(), reader))
    yield "history.jsonl", _json(_moves())
    yield "history.txt", _texts(_histories())
    yield "commands.txt", _texts(_commands())
    yield "resolve.txt", _texts(spoken())


def _texts(parts: Iterator[tuple[str, str]]) -> str:
    return "".join(f"=== {title}\n{text.rstrip()}\n" for title, text in parts)


def _json(parts: Iterator[tuple[str, Any]]) -> str:
    """A line of JSON for each, so that a change shows where it is."""
    return "".join(f"{title} {json.dumps(msgspec.to_builtins(value), ensure_ascii=False)}\n" for title, value in parts)


def _key(placement: Placement) -> str:
    return f"{placement.metadata.namespace}/{placement.metadata.name}"


def _results(snapshot: Snapshot) -> Iterator[tuple[str, ScheduleResult]]:
    for placement in snapshot.placements:
        yield _key(placement.obj), snapshot.schedule(placement)


def _names(snapshot: Snapshot) -> list[str]:
    return sorted(snapshot.fleet.names(snapshot.fleet.rows().tolist()))


def _placements(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    for key, result in _results(snapshot):
        found = explain_placement(result, snapshot.profile)
        yield key, "\n".join([*placement_lines(found, PLAIN), "", str(found)])


def _placement_documents(snapshot: Snapshot) -> Iterator[tuple[str, Any]]:
    for key, result in _results(snapshot):
        yield key, document(explain_placement(result, snapshot.profile))


def _clusters(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    for key, result in _results(snapshot):
        for name in _names(snapshot)[2:9:3]:
            way = explain_cluster(result, name, snapshot.profile, snapshot.rules)
            yield f"{name} in {key}", "\n".join([*cluster_lines(way, PLAIN), str(way)])


def _cluster_documents(snapshot: Snapshot) -> Iterator[tuple[str, Any]]:
    for key, result in _results(snapshot):
        for name in ("a3",):
            yield f"{key} {name}", document(explain_cluster(result, name, snapshot.profile, snapshot.rules))


def _outlooks(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    for name in _names(snapshot)[:12:2]:
        found = explain_everywhere(
            name, (result for _, result in _results(snapshot)), snapshot.rules, snapshot.bindings, snapshot.fleet
        )
        yield name, "\n".join([*outlook_lines(found, PLAIN), str(found)])
    for name, rule in snapshot.rules.items():
        told = explain_set(name, rule, snapshot.fleet, snapshot.bindings, (each.obj for each in snapshot.placements))
        yield f"set {told.name}", "\n".join([*set_lines(told, PLAIN), str(told)])


def _outlook_documents(snapshot: Snapshot) -> Iterator[tuple[str, Any]]:
    for name in _names(snapshot)[2:9:3]:
        results = (result for _, result in _results(snapshot))
        yield name, document(explain_everywhere(name, results, snapshot.rules, snapshot.bindings, snapshot.fleet))
    for name, rule in snapshot.rules.items():
        told = explain_set(name, rule, snapshot.fleet, snapshot.bindings, (each.obj for each in snapshot.placements))
        yield f"set {told.name}", document(told)


def _statuses(snapshot: Snapshot) -> Iterator[tuple[str, Any]]:
    """Conditions, decisions and events, as controllers write them."""
    for key, result in _results(snapshot):
        reasons = Reasons(result)
        yield (
            key,
            {
                "conditions": {
                    kind: [each.status, str(each.reason), each.message] for kind, each in result.conditions.items()
                },
                "decisions": [reasons.decision(name) for name in [*result.selected, "another"]],
                "warning": result.warning,
                "events": [_scores_text(result), reasons.warning],
            },
        )


def _findings(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    known = vocabulary(snapshot.fleet)
    for placement in snapshot.placements:
        plan, seen = snapshot.compiled(placement)
        found = lint(plan, seen, known, 10_000_000, placement.obj.spec)
        yield _key(placement.obj), "\n".join(f"{each.code} {each.severity} {each} {each.remedy}" for each in found)


def _selections(objects: list[Object]) -> Iterator[tuple[str, str]]:
    clusters = [each for each in objects if each["kind"] == "ManagedCluster"]
    for expression in (f"{fleets.LABELS}.tier == 'gold'", f"int({fleets.LABELS}.tier) == 1", "managedCluster.nope"):
        found = select(clusters, expression)
        yield expression, "\n".join(f"{name}: {found.why(name)}" for name in sorted(found.reasons))
    for labels in ("tier=gold", "tier in (gold,silver),!zone", "region notin (eu)"):
        found = select(clusters, labels=labels)
        yield labels, "\n".join(f"{name}: {found.why(name)}" for name in sorted(found.reasons))
    named = {"matchIdentities": [{"name": "one", "namespace": "ns"}]}
    purposed = {"matchPurposes": [{"operator": "ContainsAll", "values": ["dev", "prod"]}], "matchLabels": {"a": "b"}}
    hosts = [
        {"kind": "Cluster", "metadata": {"name": "one", "namespace": "ns", "labels": {"a": "b"}}, "spec": {}},
        {"kind": "Cluster", "metadata": {"name": "two", "namespace": "ns"}, "spec": {"purposes": ["dev"]}},
        {
            "kind": "Cluster",
            "metadata": {"name": "three", "namespace": "ns", "labels": {"a": "b"}},
            "spec": {"purposes": ["dev", "prod"]},
        },
    ]
    for selector in (named, purposed):
        found = select(hosts, selector=selector)
        yield json.dumps(selector), "\n".join(f"{name}: {found.why(name)}" for name in sorted(found.reasons))
    for name in ("gold", "false", "no-key", "two", "tolerant"):
        placement = next(each for each in objects if each["kind"] == "Placement" and each["metadata"]["name"] == name)
        found = select(objects, placement=placement)
        yield name, "\n".join(f"{each['metadata']['name']}: {found.why(each['metadata']['name'])}" for each in clusters)


def _answers(objects: list[Object], reader: str) -> Iterator[tuple[str, Any]]:
    """The HTTP answer to one reader, for the placement as a whole and with a cluster that he may get."""
    world = world_of(objects, NOW)
    settle(world, NOW)
    answerer = QuestionService(world, lambda: NOW, 600)
    answerer.ready = True
    seen = READERS[reader]
    names = [each["metadata"]["name"] for each in objects if each["kind"] == "ManagedCluster"]

    async def ask() -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        async with Reading.of(objects, names if seen is None else seen) as reading:
            for placement in (each for each in objects if each["kind"] == "Placement"):
                for cluster in ("", *(names if seen is None else seen)[1:2]):
                    question = ExplainQuestion(
                        placement, True, Window(limit=4), cluster, all_sets=seen is None, values=seen is None
                    )
                    try:
                        report = await answerer.explain(question)
                    except Refusal as refusal:
                        found.append((f"{name_of(placement)} {cluster}", refusal.message))
                        continue
                    shown = await reading.shown(User("dora"), placement, report)
                    answer = json.loads(msgspec.json.encode(shown))
                    told = {"cluster": answer["cluster"]} if cluster and "cluster" in answer else answer
                    found.append((f"{name_of(placement)} {cluster}", told))
        return found

    yield from asyncio.run(ask())
    answerer.close()


def _turns() -> Iterator[tuple[str, Object, Object, Object, Object]]:
    """A placement and a cluster, before and after."""
    gold = a_placement("p", predicates=[{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"t": "g"}}}}])
    expression = f"{fleets.LABELS}['t'] == 'g'"
    cel = a_placement("p", predicates=[{"requiredClusterSelector": {"celSelector": {"celExpressions": [expression]}}}])
    claim = a_placement("p", predicates=[{"requiredClusterSelector": {"claimSelector": {"matchLabels": {"t": "g"}}}}])
    both = a_placement("p", predicates=[*gold["spec"]["predicates"], *cel["spec"]["predicates"]])
    taint = [{"key": "gpu", "value": "x", "effect": "NoSelect"}]
    leaving = a_cluster("c1", {"t": "g"})
    leaving["metadata"]["deletionTimestamp"] = "2025-01-01T00:00:00Z"
    good, bad, bare = a_cluster("c1", {"t": "g"}, {"t": "g"}), a_cluster("c1", {"t": "x"}, {"t": "x"}), a_cluster("c1")
    for name, placement in (("label", gold), ("cel", cel), ("claim", claim), ("both", both)):
        yield f"{name} loses", placement, placement, good, bad
        yield f"{name} gains", placement, placement, bare, good
        yield f"{name} fails", placement, placement, good, bare
    yield "taint", gold, gold, good, a_cluster("c1", {"t": "g"}, taints=taint)
    yield "deleted", gold, gold, good, leaving
    yield "picked", a_placement("p", numberOfClusters=0), a_placement("p", numberOfClusters=1), good, good
    yield "placement", gold, claim, a_cluster("c1", {"t": "g"}), a_cluster("c1", {"t": "g"})
    yield "unbound", gold, {**gold, "metadata": {"name": "p", "namespace": "elsewhere"}}, good, good


def _move(was: Object, now: Object, before: Object, after: Object) -> tuple[Object, str]:
    old, new = Snapshot([*fleets.odd()[:13], before], NOW), Snapshot([*fleets.odd()[:13], after], NOW)
    old_plan, old_seen = old.compiled(PLACEMENTS.partly(was))
    new_plan, new_seen = new.compiled(PLACEMENTS.partly(now))
    name = str(after["metadata"]["name"])
    gained = name in new.schedule(PLACEMENTS.partly(now)).selected
    names = ((name,), ()) if gained else ((), (name,))
    noted = Noted(Ref("ManagedCluster", "", name), msgspec.json.encode(before), msgspec.json.encode(after))
    pending = Pending({noted.ref: noted} if before != after else {})
    move = Move(
        Basis(Stored.of(PLACEMENTS, now), new_plan, new_seen, NOW),
        Basis(Stored.of(PLACEMENTS, was), old_plan, old_seen, NOW),
        *(0, 1) if gained else (1, 0),
        names[0],
        names[1],
        tuple(examples_of(new.fleet, *names)),
        pending,
        unseen=False,
    )
    report = MoveReport(move)
    causes, more = report.causes("")
    flips = list(report.flips())
    entry = report.entry(causes, more, flips)
    return msgspec.to_builtins(entry), summary(entry, flips)


def _moves() -> Iterator[tuple[str, Any]]:
    for name, *turn in _turns():
        entry, event = _move(*turn)
        yield name, {"entry": entry, "event": event}


def _histories() -> Iterator[tuple[str, str]]:
    for name, *turn in _turns():
        entry, _ = _move(*turn)
        record = {
            "metadata": {"namespace": "apps", "name": "p"},
            "decided": {"count": entry["after"]},
            "changes": [json.loads(msgspec.json.encode(entry))],
            "revisions": [{"revision": 1, "time": "2026-01-01T00:00:00Z", "manager": "kubectl", "spec": {}}],
        }
        yield name, "\n".join(history_lines(record, 10))


def _commands() -> Iterator[tuple[str, str]]:
    """The commands themselves, with their exit codes, on files."""
    with tempfile.TemporaryDirectory() as directory:
        fleet = written(Path(directory) / "fleet.json", *fleets.odd())
        calls = (
            ("explain", "placement", "gold", "-n", "apps"),
            ("explain", "placement", "gold", "-n", "apps", "-o", "json"),
            ("explain", "placement", "alternatives", "-n", "apps", "-o", "yaml"),
            ("explain", "placement", "two", "-n", "apps", "--cluster", "t1"),
            ("explain", "placement", "two", "-n", "apps", "--cluster", "t3", "-o", "json"),
            ("explain", "cluster", "a2"),
            ("explain", "cluster", "t3", "-o", "json"),
            ("explain", "set", "prod"),
            ("explain", "set", "broken", "-o", "json"),
            ("select", "--why", "b1", "-l", "tier=gold"),
            ("select", "--why", "b2", f"int({fleets.LABELS}.tier) == 1"),
            ("select", f"int({fleets.LABELS}.tier) == 1"),
            ("lint", "-f", fleet, "-o", "json"),
        )
        for call in calls:
            code, out, err = called(*call, "--fleet", fleet)
            shown = " ".join(call).replace(directory, "DIR")
            yield f"muster {shown}", f"exit {code}\n{out}{err}".replace(directory, "DIR")
