"""What follows changes of decisions by what differs is what one gets from all of them: pages, rows, counts."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from muster.controllers.placements.decision_pages import PLACEMENT_LABEL
from muster.controllers.placements.drafts import draft_of
from muster.controllers.placements.kept_pages import GROUP_INDEX, GROUP_NAME, kept_by_rows, kept_pages
from muster.placement.schedule.result import paged
from tests.builders import a_cluster
from tests.controllers.placements.worlds import NOW, P1, P2, a_world, stored
from tests.controllers.seeing import put, put_cluster, remove

if TYPE_CHECKING:
    from muster.controllers.placements.keys import Key
    from muster.controllers.placements.world import PlacementWorld

GROUPS = {"decisionStrategy": {"groupStrategy": {"clustersPerDecisionGroup": 130}}}
PROD = {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"env": "prod"}}}}
NAMES = [f"c{number:03}" for number in range(420)]


def a_page(key: Key, name: str, group: tuple[int, str], clusters: list[str]) -> dict[str, Any]:
    labels = {PLACEMENT_LABEL: key.name, GROUP_INDEX: str(group[0]), GROUP_NAME: group[1]}
    metadata = {"name": name, "namespace": key.namespace, "labels": labels}
    status = {"decisions": [{"clusterName": each} for each in clusters]}
    return stored({"kind": "PlacementDecision", "metadata": metadata, "status": status}, next(_REVISIONS))


_REVISIONS = iter(range(10, 10**6))


def changed(world: PlacementWorld, chance: random.Random) -> None:
    """Something happens to a cluster, or somebody edits a page."""
    name = chance.choice(NAMES)
    match chance.randrange(12):
        case 0:
            world.remove_cluster(name)
        case 1 if world.decisions.of(P1):
            page = chance.choice(world.decisions.of(P1))
            clusters = [*page.clusters, *chance.choices(NAMES, k=chance.randrange(2))]
            labels = page.metadata.labels
            group = int(labels[GROUP_INDEX]), labels[GROUP_NAME]
            chance.shuffle(clusters)
            put(world, a_page(P1, page.metadata.name, group, clusters))
        case 2 if len(world.decisions.of(P1)) > 1:
            remove(world, json.loads(json.dumps(a_page(P1, world.decisions.of(P1)[-1].metadata.name, (0, ""), []))))
        case _:
            cluster = a_cluster(name, {"env": chance.choice(["prod", "prod", "dev"])})
            put_cluster(world, json.dumps(cluster).encode())


def compare(world: PlacementWorld) -> None:
    """Rows and counts of all placements, from scratch."""
    fleet, pages = world.fleet, world.decisions.by_place.values()
    everybody = Counter(name for page in pages for name in page.clusters)
    assert world.decisions.total == sum(everybody.values())
    for key in (P1, P2):
        own = Counter(name for page in pages if page.owner == key for name in page.clusters)
        found = world.decisions.decided(key)
        foreign = everybody - own
        assert {fleet.name(row) for row in found.own.nonzero()[0].tolist()} == {name for name in own if name in fleet}
        rows = {name: fleet.row(name) for name in NAMES}
        assert {name: int(found.foreign[row]) for name, row in rows.items() if row is not None} == {
            name: foreign[name] for name in NAMES if name in fleet
        }
        assert found.foreign_peak == max(foreign.values(), default=0)
        assert {row for name, row in rows.items() if row is not None and everybody[name]} <= set(found.rows.tolist())


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("spec", [{}, GROUPS, {"numberOfClusters": 150}], ids=["all", "groups", "limit"])
def test_pages_rows_and_counts_follow_any_changes(spec: dict[str, Any], seed: int) -> None:
    chance = random.Random(seed)
    world = a_world(p1={"predicates": [PROD], **spec}, p2={})
    for name in chance.sample(NAMES, 350):
        put_cluster(world, json.dumps(a_cluster(name, {"env": chance.choice(["prod", "prod", "dev"])})).encode())
    by_rows = 0
    for _ in range(25):
        for _ in range(chance.randrange(3)):
            changed(world, chance)
        for key in (P1, P2):
            result = world.decide(key, NOW)
            assert result is not None
            known = world.decisions.known(key)
            groups = list(result.named_groups())
            simply = kept_pages(key.name, groups, known.pages)
            kept = kept_by_rows(result, known)
            if kept is not None:
                by_rows += 1
                assert kept.pages == simply
            elif not known.others and simply is not None:  # somebody has written a page in another way
                names = [name for page in known.pages for name in page.clusters]
                is_sorted = all(list(page.clusters) == sorted(set(page.clusters)) for page in known.pages)
                assert not is_sorted or len(names) != len(set(names))
            draft = draft_of(result, known)
            assert draft.pages == (simply or tuple(paged(key.name, groups)))
            before = Counter(name for page in known.pages for name in page.clusters)
            after = Counter(result.selected)
            assert draft.selected == sorted(after)
            assert draft.count == len(after)
            assert (list(draft.gained), list(draft.lost)) == (sorted(after - before), sorted(before.keys() - after))
            world.decisions.assume(key, draft.gained, (*draft.lost, *draft.surplus))
            other = P2 if key == P1 else P1
            others = Counter(name for page in world.decisions.of(other) for name in page.clusters) + after
            assert {name: world.decisions.count(name) for name in NAMES} == {name: others[name] for name in NAMES}
            if chance.random() < 0.8:
                for page in draft.pages:
                    if chance.random() < 0.9:  # or the write fails
                        put(world, a_page(key, page.name, (page.group_index, page.group_name), list(page.clusters)))
            assert {name: world.decisions.count(name) for name in NAMES} == {name: others[name] for name in NAMES}
            own = world.decisions.decided(other).foreign
            assert {name: int(own[world.fleet.row(name) or 0]) for name in NAMES if name in world.fleet} == {
                name: after[name] for name in NAMES if name in world.fleet
            }
            world.decisions.settle(key)
        compare(world)
    assert by_rows
