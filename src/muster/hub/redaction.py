"""Takes out of an explanation what its reader may not see: the names of clusters that he may not get, and what they
hold.

They stay counted. Lists lose them; reasons lose the names, the values of such clusters, and whatever else has such a
name in it, and are worded anew. Words that the reader has anyway, because they are in the placement or are the names of
sets bound to its namespace, stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from muster.api.metadata import namespace_of
from muster.hub.storage import Key
from muster.placement.explain.explained import ClusterExplanation, NearMiss, ReasonCount, WordedPart
from muster.placement.explain.report import (
    ClusterScores,
    FailureReport,
    Names,
    PlacementReport,
    ScoresReport,
    shortened,
)
from muster.reasons import HIDDEN, Reader, Reason, redacted
from muster.reasons.redaction import names_told, words_of
from muster.selectors.observation import Observation
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from muster.hub.requests import Authorizer, User
    from muster.hub.storage.reading import StoredObjects

GROUP: Final = "cluster.open-cluster-management.io"
CLUSTERS: Final = f"managedclusters.{GROUP}"
_BINDINGS: Final = f"managedclustersetbindings.{GROUP}"
_ENTRIES: Final = (ClusterScores, FailureReport, NearMiss)  # each about one cluster


class Redaction:
    """Knows which clusters there are, and who may get them."""

    def __init__(self, store: StoredObjects, authorizer: Authorizer) -> None:
        self._store = store
        self._authorizer = authorizer

    async def over(self, user: User, placement: JsonObject, report: PlacementReport) -> PlacementReport:
        """The report as this user may see it."""
        if await self.may(user, "get"):
            return report
        listed = set(_names(report))
        names = listed | {word for word in _words(report) if word not in listed and self._is_cluster(word)}
        hidden = frozenset(await self._authorizer.missing(user, "get", CLUSTERS, sorted(names)))
        known = self._known(placement)
        shown: PlacementReport = _without(report, Reader(all_clusters=False, hidden=hidden, known=known))
        told = listed | {word for word in names if word not in known}
        notes = tuple(each.reason for each in shown.remarks)
        return replace(shown, notes=notes, hidden=len(hidden & told))

    async def may(self, user: User, verb: str, resource: str = "managedclusters") -> bool:
        """Whether the user may do this to all clusters, or to all of another resource of the group.

        A role for the empty name is not one for every name, so it is not asked for like an object.
        """
        return not await self._authorizer.missing(user, verb, f"{resource}.{GROUP}", ("",))

    def _is_cluster(self, word: str) -> bool:
        return bool(word) and self._store.get(Key(CLUSTERS, "", word)) is not None

    def _known(self, placement: JsonObject) -> frozenset[str]:
        """The words that the reader has anyway."""
        metadata = placement["metadata"]
        own = {"namespace": metadata.get("namespace"), "name": metadata.get("name"), "spec": placement.get("spec")}
        bound = self._store.scan(_BINDINGS, namespace_of(placement))
        return frozenset({*words_of(msgspec.json.encode(own).decode()), *(record.key.name for record in bound)})


def _parts(value: Json) -> Iterator[msgspec.Struct]:
    """A report and all of its parts."""
    if isinstance(value, msgspec.Struct):
        yield value
        if not isinstance(value, Reason):
            for name in value.__struct_fields__:
                yield from _parts(getattr(value, name))
    elif isinstance(value, tuple):
        for each in value:
            yield from _parts(each)


def _names(report: PlacementReport) -> Iterator[str]:
    for part in _parts(report):
        if isinstance(part, Names):
            yield from part.clusters
        elif isinstance(part, ReasonCount):
            yield from part.examples
        elif isinstance(part, (ClusterExplanation, *_ENTRIES)):
            yield part.cluster


def _words(report: PlacementReport) -> Iterator[str]:
    """Whatever in reasons and observations is, or may be, the name of a cluster."""
    for part in _parts(report):
        if isinstance(part, Reason):
            yield from names_told(part)
        elif isinstance(part, Observation):
            yield from words_of(part.value)


def _without(value: Json, reader: Reader, cluster: str = "") -> Json:
    """The same without what is hidden, all the way down. `cluster`: the one that is spoken of."""
    if isinstance(value, tuple):
        kept = (each for each in value if not (isinstance(each, _ENTRIES) and each.cluster in reader.hidden))
        return tuple(_without(each, reader, cluster) for each in kept)
    if isinstance(value, Reason):
        return redacted(value, reader, cluster)
    if not isinstance(value, msgspec.Struct):
        return value
    if isinstance(value, (ClusterExplanation, *_ENTRIES)):
        cluster = value.cluster
    changed = {name: _without(getattr(value, name), reader, cluster) for name in value.__struct_fields__}
    match value:
        case Names():
            changed["clusters"] = _seen(value.clusters, reader)
            changed["hidden"] = len(value.clusters) - len(changed["clusters"])
        case ReasonCount():
            changed["examples"] = _seen(value.examples, reader)
            changed["values"] = ()
        case ScoresReport():
            changed["hidden"] = len(value.clusters) - len(changed["clusters"])
        case Observation() if not reader.may_be_told(value.value):
            changed["value"] = HIDDEN
    if not isinstance(value, WordedPart):
        return type(value)(**changed)
    texts = [name for name, _ in value.sentences()]
    worded = type(value)(**(changed | dict.fromkeys(texts, "")))
    return replace(worded, **{name: shortened(getattr(worded, name)) for name in texts})


def _seen(names: Iterable[str], reader: Reader) -> tuple[str, ...]:
    return tuple(name for name in names if name not in reader.hidden)
