"""What a plugin generator asks, and what it is told: parameters for each cluster. Pure.

An ApplicationSet with an empty list deletes all its Applications, and keeps them when the generator fails. So whatever
is not certain is a refusal: pages that are being written, expressions that failed, no clusters at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.managed_cluster import ManagedCluster
from muster.api.placement import Placement
from muster.api.placement_decision import PlacementDecision
from muster.api.reading import Reader
from muster.placement.generations import Marks
from muster.values.json import Json, JsonMapping, JsonObject
from muster.values.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

PLACEMENT_LABEL: Final = "cluster.open-cluster-management.io/placement"
_GROUP_NAME: Final = "cluster.open-cluster-management.io/decision-group-name"
_HELD: Final = "RemovalsHeld"
_NAMES: Final = ("placement", "expression", "labels", "group", "minClusters", "allowEmpty")
_CLUSTERS: Final = Reader(ManagedCluster)
_PLACEMENTS: Final = Reader(Placement)
_DECISIONS: Final = Reader(PlacementDecision)


class RefusedError(Exception):
    """Why there is no answer, with the HTTP status that says so. Argo CD keeps what it has."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Input(msgspec.Struct, frozen=True):
    parameters: dict[str, Json] = {}


class _Request(msgspec.Struct, frozen=True):
    applicationSetName: str = ""  # noqa: N815 - the wire's names
    input: _Input = _Input()


@dataclass(frozen=True, slots=True)
class Asked:
    """A placement by namespace and name, or an expression and labels."""

    namespace: str = ""
    placement: str = ""
    expression: str = ""
    labels: str = ""
    group: str | None = None
    fewest: int = 1


def asked_in(body: bytes) -> Asked:
    """The question in a request of the generator. Raises RefusedError with what is wrong with it."""
    try:
        given = msgspec.json.decode(body, type=_Request).input.parameters
    except (msgspec.DecodeError, RecursionError) as error:
        raise RefusedError(400, f"this is no request of a plugin generator: {error}") from error
    for name in given:
        if name not in _NAMES:
            near = nearest(name, _NAMES, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(_NAMES)}"
            raise RefusedError(400, f"input.parameters.{name[:80]} means nothing here{hint}")
    placement, expression, labels = (_text(given, name) for name in ("placement", "expression", "labels"))
    if bool(placement) == bool(expression or labels):
        raise RefusedError(400, "give input.parameters.placement, or expression and labels, and not both")
    namespace, slash, name = placement.partition("/")
    if placement and not (slash and namespace and name and "/" not in name):
        raise RefusedError(400, "input.parameters.placement is NAMESPACE/NAME, such as apps/checkout")
    group = _text(given, "group") if "group" in given else None
    return Asked(namespace, name, expression, labels, group, _fewest(given))


def _text(given: JsonMapping, name: str) -> str:
    value = given.get(name, "")
    if not isinstance(value, str):
        raise RefusedError(400, f"input.parameters.{name} is a text")
    return value


def _fewest(given: JsonMapping) -> int:
    """How many clusters there must be; one unless none are allowed."""
    allows, fewest = given.get("allowEmpty", False), given.get("minClusters", 1)
    if isinstance(fewest, str) and fewest.isascii() and fewest.isdigit() and len(fewest) < 10:
        fewest = int(fewest)
    if allows not in (True, False, "true", "false"):
        raise RefusedError(400, "input.parameters.allowEmpty is true or false")
    if isinstance(fewest, bool) or not isinstance(fewest, int) or fewest < 0:
        raise RefusedError(400, "input.parameters.minClusters is a number from 0 on")
    if allows in (True, "true"):
        return fewest if "minClusters" in given else 0
    return max(fewest, 1)


def by_placement(
    asked: Asked, placement: bytes | None, pages: Sequence[bytes], cluster: Callable[[str], bytes | None]
) -> list[JsonObject]:
    """The clusters that a placement has decided, of one finished generation."""
    place = f"{asked.namespace}/{asked.placement}"
    if placement is None:
        raise RefusedError(404, f"there is no placement {place}")
    found = [_DECISIONS.of(msgspec.json.decode(page)) for page in pages]
    marks = next((each for page in found if (each := Marks.read(page.metadata.annotations)) is not None), None)
    if marks is None or not marks.fits([[each.cluster_name for each in page.status.decisions] for page in found]):
        raise RefusedError(503, f"decisions of {place} are being written; they are told when they are whole")
    if asked.group is not None:
        found = [page for page in found if page.metadata.labels.get(_GROUP_NAME, "") == asked.group]
    answer = [
        {
            **parameters(decision.cluster_name, cluster(decision.cluster_name)),
            "reason": decision.reason,
            "score": "" if decision.score is None else str(decision.score),
            "generation": str(marks.generation),
            "placement": asked.placement,
            "placementNamespace": asked.namespace,
            "group": page.metadata.labels.get(_GROUP_NAME, ""),
        }
        for page in found
        for decision in page.status.decisions
    ]
    conditions = _PLACEMENTS.of(msgspec.json.decode(placement)).status.conditions
    held = next((each.message for each in conditions if each.type == _HELD and each.status == "True"), "")
    return enough(answer, asked, f"placement {place}", held)


def by_expression(
    asked: Asked, names: Iterable[str], failed: Sequence[str], clusters: Mapping[str, bytes]
) -> list[JsonObject]:
    """The clusters that an expression and labels select."""
    if failed:
        shown = ", ".join(failed[:3])
        raise RefusedError(503, f"the expression failed on {len(failed)} clusters, such as {shown}: nothing is certain")
    told = {"score": "", "generation": "", "placement": "", "placementNamespace": "", "group": ""}
    reason = " and ".join(each for each in (asked.expression, asked.labels) if each)
    answer = [{**parameters(name, clusters.get(name)), "reason": f"matches {reason}", **told} for name in names]
    return enough(answer, asked, "the expression")


def enough(answer: list[JsonObject], asked: Asked, what: str, held: str = "") -> list[JsonObject]:
    """The answer. Raises RefusedError when so few clusters would have Argo CD delete what it must not."""
    if held and not answer:
        raise RefusedError(503, f"a guard holds removals of {what}: {held}")
    if len(answer) < asked.fewest:
        allow = "; allowEmpty: true allows none" if asked.fewest == 1 else ""
        raise RefusedError(409, f"{what} selects {len(answer)} clusters, and {asked.fewest} are expected{allow}")
    return answer


def parameters(name: str, encoded: bytes | None) -> JsonObject:
    """What a template may say of a cluster. A cluster that is not there any more has a name and nothing else."""
    cluster = ManagedCluster() if encoded is None else _CLUSTERS.of(msgspec.json.decode(encoded))
    addresses = cluster.spec.managed_cluster_client_configs
    claims = {claim.name: claim.value for claim in cluster.status.cluster_claims}
    server = addresses[0].url if addresses else ""
    return {"name": name, "server": server, "labels": dict(cluster.metadata.labels), "claims": claims}
