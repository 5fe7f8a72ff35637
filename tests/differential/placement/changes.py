"""What happens to a fleet after the first look: steps of a case, from a seed.

A step has objects to apply, references to delete and perhaps a later time, as the recorded cases have them.
"""

from __future__ import annotations

import copy
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tests.builders import a_time
from tests.differential.placement import fleets, placements

if TYPE_CHECKING:
    import random

    from tests.differential.placement.fleets import Object


def a_case(chance: random.Random) -> dict[str, Any]:
    """A fleet, a placement, and up to three changes."""
    size = chance.choice((1, 3, 5, 8, 8, 12, 20)) if chance.random() < 0.985 else chance.choice((101, 130, 205))
    case = fleets.a_fleet(chance, size) | {"placement": placements.a_placement(chance), "steps": []}
    clusters = {each["metadata"]["name"]: each for each in case["clusters"]}
    placement, now = case["placement"], case["now"]
    for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
        step: dict[str, Any] = {"apply": [], "delete": []}
        drawn = chance.random()
        if drawn < 0.3 and clusters:
            changed = changed_cluster(chance, clusters[chance.choice(sorted(clusters))])
            clusters[changed["metadata"]["name"]] = changed
            step["apply"].append(changed)
        elif drawn < 0.45 and clusters:
            gone = chance.choice(sorted(clusters))
            del clusters[gone]
            step["delete"].append({"kind": "ManagedCluster", "name": gone})
        elif drawn < 0.55:
            new = fleets.a_cluster(chance, f"new{chance.randint(1, 9)}")
            clusters[new["metadata"]["name"]] = new
            step["apply"].append(new)
        elif drawn < 0.75:
            placement = changed_placement(chance, placement)
            step["apply"].append(placement)
        elif drawn < 0.85:
            now = fleets.time_text(a_time(now) + timedelta(seconds=chance.choice((1, 60, 120, 4000))))
            step["now"] = now
        elif drawn < 0.95 and clusters:
            name = chance.choice(sorted(clusters))
            step["apply"].append(fleets.a_score(chance, name, chance.choice(fleets.RESOURCES)))
        else:
            name = chance.choice((*fleets.SETS, "global", "gold"))
            if chance.random() < 0.5:
                step["apply"].append(fleets.a_binding(name))
            else:
                step["delete"].append({"kind": "ManagedClusterSetBinding", "namespace": fleets.NAMESPACE, "name": name})
        case["steps"].append(step)
    return case


def changed_cluster(chance: random.Random, cluster: Object) -> Object:
    """The cluster with one part as another one has it."""
    changed, other = copy.deepcopy(cluster), fleets.a_cluster(chance, cluster["metadata"]["name"])
    match chance.choice(("labels", "taints", "status", "deletion")):
        case "labels":
            changed["metadata"]["labels"] = other["metadata"]["labels"]
        case "taints":
            changed["spec"] = other["spec"]
        case "status":
            changed["status"] = other["status"]
        case _:
            changed["metadata"] |= {"deletionTimestamp": "2026-03-01T12:00:00Z", "finalizers": ["example.com/hold"]}
    return changed


def changed_placement(chance: random.Random, placement: Object) -> Object:
    """The placement with one field as another one has it."""
    changed, other = copy.deepcopy(placement), placements.a_placement(chance)["spec"]
    field = chance.choice(sorted({*other, *changed["spec"], "numberOfClusters"}))
    if field in other:
        changed["spec"][field] = other[field]
    else:
        changed["spec"].pop(field, None)
    return changed
