"""What somebody's definition of a kind lacks beside ours, and what a user would notice of that. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.values.json import JsonMapping
from muster.values.json_members import list_at, object_at, text_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SETS: Final = "managedclustersets.cluster.open-cluster-management.io"
_PLACEMENTS: Final = "placements.cluster.open-cluster-management.io"
_DECISIONS: Final = "placementdecisions.cluster.open-cluster-management.io"
_SCORES: Final = "addonplacementscores.cluster.open-cluster-management.io"

#: What is lost with a field, by kind and path. A field that is not here is named without consequences.
NOTICED: Final[Mapping[tuple[str, str], str]] = {
    (_SETS, "spec.exclusiveKey"): "cluster sets are exclusive by the default label only; an exclusiveKey is dropped",
    (_PLACEMENTS, "spec.sortBy"): "decisions are in the order of names; sortBy is dropped",
    (_PLACEMENTS, "spec.scoreRateLimit"): "scores move decisions at once; scoreRateLimit is dropped",
    (_PLACEMENTS, "status.lastScoreUpdateTime"): "nobody sees when scores were looked at last",
    (_DECISIONS, "status.decisions[].score"): "decisions do not show scores",
    (_SCORES, "status.scores[].quantity"): "scores are whole numbers; quantities such as 4Gi are dropped",
}

#: In our definition only to be refused with words: who does not have it lacks nothing.
_REFUSED: Final = frozenset({(_SETS, "spec.clusterLabel")})


@dataclass(frozen=True, slots=True)
class Lacks:
    """What is in our definition of a kind and not in theirs."""

    fields: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()  # by their messages
    status: bool = False  # the status is not written apart

    def words(self) -> list[str]:
        found = list(self.fields)
        found += [f"version {each}" for each in self.versions]
        found += [f"column {each}" for each in self.columns]
        found += [f"{len(self.rules)} rule{'s' if len(self.rules) > 1 else ''}"] if self.rules else []
        return [*found, "subresource status"] if self.status else found


def lacks(ours: JsonMapping, theirs: JsonMapping) -> Lacks:
    """Compared in the version that we store; `ours` is the whole definition, with every version."""
    versions = _versions(theirs)
    stored = next(each for each in list_at(ours, "spec", "versions") if each["storage"])
    missing = tuple(name for name in _versions(ours) if name not in versions)
    if stored["name"] not in versions:
        return Lacks(versions=missing)
    found = versions[stored["name"]]
    path = ("schema", "openAPIV3Schema")
    wanted, given = object_at(stored, *path), object_at(found, *path)
    columns = {text_at(each, "name") for each in list_at(found, "additionalPrinterColumns")}
    rules = set(messages(given))
    return Lacks(
        fields=tuple(
            each for each in _missing(wanted, given, "") if (text_at(ours, "metadata", "name"), each) not in _REFUSED
        ),
        versions=missing,
        columns=tuple(
            name for each in list_at(stored, "additionalPrinterColumns") if (name := each["name"]) not in columns
        ),
        rules=tuple(dict.fromkeys(each for each in messages(wanted) if each not in rules)),
        status="status" in object_at(stored, "subresources") and "status" not in object_at(found, "subresources"),
    )


def noticed(kind: str, missing: Lacks) -> list[str]:
    """What a user would notice of it."""
    found = [words for (key, path), words in NOTICED.items() if key == kind and path in missing.fields]
    if missing.versions:
        found.append(f"requests in {', '.join(missing.versions)} are answered with 404")
    if missing.columns:
        found.append(f"`kubectl get` does not show {', '.join(missing.columns)}")
    return found


def messages(schema: JsonMapping) -> Iterator[str]:
    """Of all rules of a schema, in its order."""
    for each in list_at(schema, "x-kubernetes-validations"):
        yield text_at(each, "message")
    for each in object_at(schema, "properties").values():
        yield from messages(each)
    yield from messages(object_at(schema, "items")) if object_at(schema, "items") else ()


def rules_at(definition: JsonMapping, place: tuple[str, ...]) -> list[str]:
    """The messages of the rules that stand at a place of the stored version: properties, `[]` for items of a list."""
    return [text_at(each, "message") for each in list_at(schema_at(definition, place), "x-kubernetes-validations")]


def schema_at(definition: JsonMapping, place: tuple[str, ...]) -> JsonMapping:
    """The schema at a place of the stored version; an empty one where there is none."""
    stored = [each for each in list_at(definition, "spec", "versions") if each.get("storage")]
    schema = object_at(stored[0], "schema", "openAPIV3Schema") if stored else {}
    for name in place:
        schema = object_at(schema, "items") if name == "[]" else object_at(schema, "properties", name)
    return schema


def _versions(definition: JsonMapping) -> dict[str, JsonMapping]:
    return {text_at(each, "name"): each for each in list_at(definition, "spec", "versions") if each.get("served", True)}


def _missing(ours: JsonMapping, theirs: JsonMapping, path: str) -> Iterator[str]:
    """The topmost fields of ours that theirs do not have. Where theirs keep everything, nothing is missing."""
    if theirs.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in theirs:
        return
    given = object_at(theirs, "properties")
    for name, schema in object_at(ours, "properties").items():
        inner = f"{path}.{name}" if path else name
        if not path and name in ("apiVersion", "kind", "metadata"):
            continue
        if name not in given:
            yield inner
        else:
            yield from _missing(schema, given[name], inner)
    if "items" in ours:
        yield from _missing(object_at(ours, "items"), object_at(theirs, "items"), f"{path}[]")
