"""Takes out of an explanation what its reader may not see: the names of clusters that he may not get.

They stay counted. Lists lose them, and so does every sentence, whoever worded it: a word in a sentence that is the name
of a cluster is looked at like a name in a list. Words that the reader has anyway, because they are in the placement or
are the names of sets bound to its namespace, stay.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from muster.hub.storage import Key
from muster.placement.report import (
    CheckReport,
    ClusterReport,
    ClusterScores,
    ConditionReport,
    FailureReport,
    Names,
    NearMissReport,
    ObservationReport,
    PlacementReport,
    ReasonReport,
    ScoresReport,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from muster.hub.requests import Authorizer, JsonObject, User
    from muster.hub.storage import Store

GROUP: Final = "cluster.open-cluster-management.io"
CLUSTERS: Final = f"managedclusters.{GROUP}"
_BINDINGS: Final = f"managedclustersetbindings.{GROUP}"
_WORD: Final = re.compile(r"[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?")
HIDDEN: Final = "(hidden)"
_ENTRIES: Final = (ClusterScores, FailureReport, NearMissReport)  # each about one cluster
# Where sentences are. Everything else in a report is a number, a name in a list, or a word of our own.
_SENTENCES: Final = {
    CheckReport: ("reason",),
    ClusterReport: ("summary", "cut"),
    ConditionReport: ("message",),
    FailureReport: ("reason",),
    NearMissReport: ("reason",),
    ObservationReport: ("text", "value", "short"),
    PlacementReport: ("notes",),
    ReasonReport: ("reason",),
}


class Veil:
    """Knows which clusters there are, and who may get them."""

    def __init__(self, store: Store, authorizer: Authorizer) -> None:
        self._store = store
        self._authorizer = authorizer

    async def over(self, user: User, placement: JsonObject, report: PlacementReport) -> PlacementReport:
        """The report as this user may see it."""
        if await self.may(user, "get"):
            return report
        spared = self._spared(placement)
        names = set(_names(report))
        for sentence in _sentences(report):
            names.update(self._named(sentence, spared))
        hidden = frozenset(await self._authorizer.missing(user, "get", CLUSTERS, sorted(names)))
        shown: PlacementReport = _without(report, hidden, spared)
        return msgspec.structs.replace(shown, hidden=len(hidden))

    async def over_texts(self, user: User, placement: JsonObject, texts: Iterable[str]) -> list[str]:
        """Sentences as this user may see them."""
        sentences = list(texts)
        if await self.may(user, "get"):
            return sentences
        spared = self._spared(placement)
        names = sorted({name for sentence in sentences for name in self._named(sentence, spared)})
        hidden = frozenset(await self._authorizer.missing(user, "get", CLUSTERS, names))
        return [_veiled(sentence, hidden, spared) for sentence in sentences]

    async def may(self, user: User, verb: str, resource: str = "managedclusters") -> bool:
        """Whether the user may do this to all clusters, or to all of another resource of the group.

        A role for the empty name is not one for every name, so it is not asked for like an object.
        """
        return not await self._authorizer.missing(user, verb, f"{resource}.{GROUP}", ("",))

    def _spared(self, placement: JsonObject) -> frozenset[str]:
        """The words that the reader has anyway."""
        metadata = placement["metadata"]
        own = {"namespace": metadata.get("namespace"), "name": metadata.get("name"), "spec": placement.get("spec")}
        words = set(_WORD.findall(msgspec.json.encode(own).decode()))
        bound = self._store.scan(_BINDINGS, metadata.get("namespace") or "")
        return frozenset(words | {record.key.name for record in bound})

    def _named(self, sentence: str, spared: frozenset[str]) -> Iterator[str]:
        """The clusters whose names are words of a sentence."""
        for word in set(_WORD.findall(sentence)) - spared:
            if self._store.get(Key(CLUSTERS, "", word)) is not None:
                yield word


def _parts(value: Any) -> Iterator[msgspec.Struct]:
    """A report and all of its parts."""
    if isinstance(value, msgspec.Struct):
        yield value
        for name in value.__struct_fields__:
            yield from _parts(getattr(value, name))
    elif isinstance(value, tuple):
        for each in value:
            yield from _parts(each)


def _names(report: PlacementReport) -> Iterator[str]:
    for part in _parts(report):
        if isinstance(part, Names):
            yield from part.clusters
        elif isinstance(part, ReasonReport):
            yield from part.examples
        elif isinstance(part, (ClusterReport, *_ENTRIES)):
            yield part.cluster


def _sentences(report: PlacementReport) -> Iterator[str]:
    for part in _parts(report):
        for name in _SENTENCES.get(type(part), ()):
            value = getattr(part, name)
            yield from (value,) if isinstance(value, str) else value


def _without(value: Any, hidden: frozenset[str], spared: frozenset[str]) -> Any:
    """The same without what is hidden, all the way down."""
    if isinstance(value, tuple):
        kept = (each for each in value if not (isinstance(each, _ENTRIES) and each.cluster in hidden))
        return tuple(_without(each, hidden, spared) for each in kept)
    if not isinstance(value, msgspec.Struct):
        return value
    changed = {name: _without(getattr(value, name), hidden, spared) for name in value.__struct_fields__}
    for name in _SENTENCES.get(type(value), ()):
        said = changed[name]
        changed[name] = (
            _veiled(said, hidden, spared)
            if isinstance(said, str)
            else tuple(_veiled(each, hidden, spared) for each in said)
        )
    if isinstance(value, Names):
        changed["clusters"] = tuple(name for name in value.clusters if name not in hidden)
        changed["hidden"] = len(value.clusters) - len(changed["clusters"])
    elif isinstance(value, ReasonReport):
        changed["examples"] = tuple(name for name in value.examples if name not in hidden)
        changed["values"] = ()
    elif isinstance(value, ScoresReport):
        changed["hidden"] = len(value.clusters) - len(changed["clusters"])
    return type(value)(**changed)


def _veiled(sentence: str, hidden: frozenset[str], spared: frozenset[str]) -> str:
    def word(found: re.Match[str]) -> str:
        return HIDDEN if found[0] in hidden and found[0] not in spared else found[0]

    return _WORD.sub(word, sentence)
