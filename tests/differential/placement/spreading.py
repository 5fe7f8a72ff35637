"""What a spread must give, by the words of the reference: simple, slow, and not ours.

One cluster at a time, from the topology that has the fewest so far, outermost first; among equals the better ranked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.differential.placement.fleets import Object


def spread_out(ranked: Sequence[Object], terms: Sequence[Object], number: int) -> list[str]:
    """The names taken, in the order in which they are."""
    left = [(each, place) for each in ranked if _placed(place := [_topology(each, term) for term in terms], terms)]
    nodes = {tuple(place[: level + 1]) for _, place in left for level in range(len(terms))}
    counts = dict.fromkeys(nodes, 0)
    taken: list[str] = []
    while len(taken) < number:
        open_to = [(at, each, place) for at, (each, place) in enumerate(left) if _allowed(place, terms, counts)]
        if not open_to:
            break
        at, each, place = min(open_to, key=lambda one: (_fewest(one[2], counts), one[0]))
        del left[at]
        taken.append(each["metadata"]["name"])
        for level in range(len(terms)):
            counts[tuple(place[: level + 1])] += 1
    return taken


def _topology(cluster: Object, term: Object) -> Any:
    if term["topologyKeyType"] == "Label":
        return (cluster["metadata"].get("labels") or {}).get(term["topologyKey"])
    claims = {each["name"]: each["value"] for each in cluster["status"].get("clusterClaims") or ()}
    return claims.get(term["topologyKey"])


def _placed(place: Sequence[Any], terms: Sequence[Object]) -> bool:
    return all(
        at is not None or term["whenUnsatisfiable"] != "DoNotSchedule" for at, term in zip(place, terms, strict=True)
    )


def _fewest(place: Sequence[Any], counts: dict[tuple[Any, ...], int]) -> tuple[int, ...]:
    return tuple(counts[tuple(place[: level + 1])] for level in range(len(place)))


def _allowed(place: Sequence[Any], terms: Sequence[Object], counts: dict[tuple[Any, ...], int]) -> bool:
    for level, term in enumerate(terms):
        if term["whenUnsatisfiable"] == "DoNotSchedule":
            node = tuple(place[: level + 1])
            least = min(count for other, count in counts.items() if len(other) == level + 1 and other[:-1] == node[:-1])
            if counts[node] + 1 - least > term["maxSkew"]:
                return False
    return True
