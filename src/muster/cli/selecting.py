"""`muster select` of a server: its questions are asked, and what it answers is what is selected.

Knows how the command's words become questions; evaluates nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.cli.inputs.askers import warn
from muster.cli.inputs.fleets import in_namespace
from muster.errors import ApiError, InvalidObjectError
from muster.values.json import JsonMapping, JsonObject
from muster.values.labels import InvalidSelectorError, Operator, parse_selector

if TYPE_CHECKING:
    from muster.api.fleet_evaluation import FleetEvaluationStatus, Row
    from muster.cli.inputs.askers import Asked
    from muster.placement.explain.report import PlacementReport
    from muster.selection import Selection

CLUSTERS: Final = "managedclusters"
RESOURCES: Final = {
    "ManagedCluster": CLUSTERS,
    "ClusterProfile": "clusterprofiles",
    "Cluster": "clusters",
    "ClusterRequest": "clusterrequests",
}
_PROFILE: Final = "ClusterProfile"
_PURPOSED: Final = ("clusters", "clusterrequests")
_PAGE: Final = 500
_SELECTED: Final = "selected: it passes every filter and ranks high enough"
_OPERATORS: Final = {
    Operator.EQUALS: "In",
    Operator.DOUBLE_EQUALS: "In",
    Operator.IN: "In",
    Operator.NOT_EQUALS: "NotIn",
    Operator.NOT_IN: "NotIn",
    Operator.EXISTS: "Exists",
    Operator.DOES_NOT_EXIST: "DoesNotExist",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be selected by: labels and CEL together, a selector from a file, or a Placement."""

    cel: str = ""
    labels: str = ""
    document: JsonObject | None = None
    kind: str = ""

    @property
    def placement(self) -> JsonObject | None:
        is_one = self.document is not None and self.document.get("kind") == "Placement"
        return self.document if is_one else None


@dataclass(frozen=True, slots=True)
class Found:
    """What a server selects: names in order by resource, how many could not be evaluated, and what was said of it."""

    names: tuple[tuple[str, str], ...]  # resource, and name as people write it
    failed: int = 0
    failing: tuple[str, ...] = ()
    message: str = ""


async def selected(asked: Asked, wanted: Wanted) -> Found:
    """Ask. Raises InvalidObjectError for what cannot be evaluated, and ApiError."""
    if wanted.kind == _PROFILE:
        found = await _profiles(asked, wanted)
        place = f"{_namespace(asked, wanted)}/" if wanted.placement is not None else ""
        chosen_names = tuple((RESOURCES[_PROFILE], f"{place}{name}") for name in found.names)
        message = found.why(found.failed[0]) if found.failed else ""
        return Found(chosen_names, len(found.failed), found.failed[:3], message)
    if wanted.placement is not None:
        return await _by_placement(asked, wanted.placement)
    names: list[tuple[str, str]] = []
    failed, message = 0, ""
    failing: tuple[str, ...] = ()
    for resource in _resources(wanted):
        chosen: dict[str, None] | None = None
        for question in _conditions(wanted, resource):
            rows, status = await _matched(asked, question, resource)
            chosen = rows if chosen is None else {name: None for name in chosen if name in rows}
            if status.failed:
                failed += status.failed
                failing = tuple(each.example for each in status.failures if each.example)
                message = status.failures[0].message if status.failures else ""
        names += [(resource, name) for name in sorted(chosen or ())]
    return Found(tuple(names), failed, failing, message)


async def reason(asked: Asked, wanted: Wanted, name: str) -> tuple[bool, str]:
    """Whether one object is selected, and why. Raises InvalidObjectError when there is none of that name."""
    if wanted.kind == _PROFILE:
        profiles = await _profiles(asked, wanted)
        known = name.rpartition("/")[2] if wanted.placement is not None else name
        return known in profiles.names, profiles.why(known)
    if wanted.placement is not None:
        report = await _report(asked, wanted.placement, cluster=name)
        way = report.cluster
        if not way:
            raise InvalidObjectError("", f"there is no object {name!r} in the fleet")
        return way.selected, _SELECTED if way.selected else way.summary
    for resource in _resources(wanted):
        told: list[str] = []
        for question in _conditions(wanted, resource):
            row = await _row(asked, question, resource, name)
            if row is None:
                break
            if row.verdict != "Matched":
                return False, row.why or f"it is {row.verdict.lower()}"
            told.append(row.why or "everything that is asked for holds")
        else:
            return True, told[0]
    raise InvalidObjectError("", f"there is no object {name!r} in the fleet")


async def _profiles(asked: Asked, wanted: Wanted) -> Selection:
    """ClusterProfiles as far as they may be listed, spoken of as clusters: evaluated here, as files are."""
    from muster.questions.asked import served
    from muster.selection import select

    objects: list[JsonObject] = []
    place = served(RESOURCES[_PROFILE])
    namespace = _namespace(asked, wanted) if wanted.placement is not None else ""
    if asked.client is not None:
        async for page in asked.client.whole().pages(place.path(namespace)):
            objects += [{"apiVersion": place.api_version, "kind": _PROFILE, **item} for item in page["items"]]
    if wanted.placement is not None:
        return select(objects, placement=in_namespace(wanted.placement, namespace), kind=_PROFILE)
    cel, labels = wanted.cel or None, wanted.labels or None
    return select(objects, cel, labels=labels, selector=wanted.document, kind=_PROFILE)


def _namespace(asked: Asked, wanted: Wanted) -> str:
    """Of the placement: its profiles are one inventory."""
    metadata = in_namespace(dict(wanted.placement or {}), asked.namespace)["metadata"]
    return str(metadata["namespace"])


async def objects_of(asked: Asked, found: Found) -> dict[str, JsonObject]:
    """The selected objects themselves, by name as people write it."""
    from muster.questions.asked import served

    wanted = {name for _, name in found.names}
    objects: dict[str, JsonObject] = {}
    if asked.client is None:
        return objects
    for resource in {resource: None for resource, _ in found.names}:
        kind = next(kind for kind, each in RESOURCES.items() if each == resource)
        place = served(resource)
        async for page in asked.client.whole().pages(place.path()):
            for item in page["items"]:
                metadata = item["metadata"]
                name = f"{metadata['namespace']}/{metadata['name']}" if place.namespaced else metadata["name"]
                if name in wanted:
                    objects[name] = {"apiVersion": place.api_version, "kind": kind, **item}
    return objects


def _resources(wanted: Wanted) -> tuple[str, ...]:
    """What is looked at, by what is asked."""
    if wanted.kind:
        if wanted.kind not in RESOURCES:
            text = f"a server is not asked about {wanted.kind!r}, only about {', '.join(RESOURCES)}; use --fleet"
            raise InvalidObjectError("", text)
        return (RESOURCES[wanted.kind],)
    document = wanted.document
    if document is not None and not document.keys().isdisjoint({"matchPurposes", "matchIdentities"}):
        return _PURPOSED
    return (CLUSTERS,)


def _conditions(wanted: Wanted, resource: str) -> list[JsonObject]:
    """The questions whose answers must all be yes: one, unless there is a selector in a file beside others."""
    found: list[JsonObject] = []
    if resource == CLUSTERS and (wanted.labels or wanted.cel):
        parts: JsonObject = {"labelSelector": _label_selector(wanted.labels)} if wanted.labels else {}
        parts |= {"celSelector": {"celExpressions": [wanted.cel]}} if wanted.cel else {}
        found.append({"predicates": [{"requiredClusterSelector": parts}]})
    elif resource != CLUSTERS:
        found += [{"selector": _label_selector(wanted.labels)}] if wanted.labels else []
        found += [{"expression": wanted.cel}] if wanted.cel else []
    if wanted.document is not None:
        found.append({"selector": wanted.document})
    return found


def _label_selector(text: str) -> JsonObject:
    try:
        requirements = parse_selector(text).requirements
    except InvalidSelectorError as error:
        raise InvalidObjectError("", f"label selector {text!r}: {error}") from error
    expressions = []
    for each in requirements:
        if each.operator not in _OPERATORS:
            raise InvalidObjectError("", f"label selector {text!r}: a server does not compare with {each.operator}")
        values = {"values": sorted(each.values)} if each.values else {}
        expressions.append({"key": each.key, "operator": _OPERATORS[each.operator], **values})
    return {"matchExpressions": expressions}


async def _matched(asked: Asked, question: JsonMapping, resource: str) -> tuple[dict[str, None], FleetEvaluationStatus]:
    """The names of all that match, and what else the answer says."""
    names: dict[str, None] = {}
    while True:
        rows = {"show": "Matched", "limit": _PAGE, "offset": len(names)}
        status = await _evaluated(asked, {**question, "resource": resource, "rows": rows})
        names |= {_shown(row): None for row in status.rows}
        if not status.rows or len(names) >= status.rows_in_all:
            return names, status


async def _row(asked: Asked, question: JsonMapping, resource: str, name: str) -> Row | None:
    """The one of that name, whatever is made of it."""
    variable = "managedCluster" if resource == CLUSTERS else "object"
    namespace, _, last = name.rpartition("/")
    condition = f"{variable}.metadata.name == {_text(last)}"
    if resource != CLUSTERS and namespace:
        condition += f" && {variable}.metadata.namespace == {_text(namespace)}"
    rows = {"show": "All", "filter": condition, "limit": 1}
    found = (await _evaluated(asked, {**question, "resource": resource, "rows": rows})).rows
    return found[0] if found and _shown(found[0]) == name else None


def _text(value: str) -> str:
    """A CEL literal."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


async def _evaluated(asked: Asked, spec: JsonMapping) -> FleetEvaluationStatus:
    from muster.api.fleet_evaluation import FleetEvaluationStatus

    answer = await asked.asker.ask("FleetEvaluation", spec)
    for sentence in answer.notes:
        warn(sentence)
    status = answer.read(FleetEvaluationStatus)
    if not status.valid:
        raise InvalidObjectError("", "; ".join(each.message for each in status.diagnostics if each.severity == "error"))
    return status


async def _report(asked: Asked, placement: JsonObject, *, cluster: str = "", token: str = "") -> PlacementReport:
    from muster.placement.explain.report import MOST_NAMES, PlacementReport

    placed = in_namespace(placement, asked.namespace)
    metadata = {"name": "unsaved", **placed["metadata"]}
    spec: JsonObject = {"placement": {"metadata": metadata, "spec": placed.get("spec", {})}}
    spec |= {"cluster": cluster, "limit": 1} if cluster else {"limit": MOST_NAMES}
    try:
        answer = await asked.asker.ask("PlacementExplanation", spec | ({"continue": token} if token else {}))
    except ApiError as error:
        if cluster and error.code == 404 and error.name == cluster:
            raise InvalidObjectError("", f"there is no object {cluster!r} in the fleet") from None
        raise
    return answer.read(PlacementReport)


async def _by_placement(asked: Asked, placement: JsonObject) -> Found:
    pages = [await _report(asked, placement)]
    while token := pages[-1].metadata.continue_:
        pages.append(await _report(asked, placement, token=token))
    first = pages[0]
    faults = [each.message for each in first.conditions if each.why.code == "Misconfigured"]
    if faults:
        raise InvalidObjectError("", faults[0])
    names = [name for page in pages for each in page.decisions for name in each.clusters.clusters]
    hidden = first.selected - len(names)
    if hidden > 0:
        warn(f"{hidden} more clusters are selected that you may not get")
    examples = first.failures.examples
    return Found(
        tuple((CLUSTERS, name) for name in names),
        first.failures.count,
        tuple(each.cluster for each in examples[:3]),
        examples[0].reason if examples else "",
    )


def _shown(row: Row) -> str:
    return f"{row.namespace}/{row.name}" if row.namespace else row.name
