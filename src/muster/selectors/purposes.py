"""Selectors over objects with purposes (Cluster, ClusterRequest): identity, labels, purposes and their combinations.

The rules: an identity list that is there, even empty, is the only thing that counts; a list that is not there
(null) restricts nothing; everything else is ANDed. Null and the empty list are different things in every form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.cluster_selectors import ClusterSelectorSpec
from muster.api.parts import Node, ObjectMeta, Part
from muster.api.reading import Reader
from muster.errors import InvalidObjectError
from muster.reasons import Code, Reason, Subject
from muster.selectors.labels import requirement_fails
from muster.selectors.match import Match, no, yes
from muster.selectors.paths import Path, key_path, label_path
from muster.values.arguments import expected
from muster.values.causes import TYPE_INVALID, Cause, forbidden, invalid, not_supported, required, sentence
from muster.values.json import JsonMapping
from muster.values.labels import from_label_selector, label_selector_causes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.values.labels import Selector as LabelRequirements

_MISMATCH: Final = re.compile(r"Expected `([^`]*)`, got `([^`]*)`")
_WORDS: Final = {
    "array": "a list",
    "bool": "true or false",
    "float": "a number",
    "int": "a number",
    "object": "a mapping",
    "str": "a text",
}
OPERATORS: Final = ("ContainsAll", "ContainsAny", "ContainsNone", "Equals")

# Which fields each selector type of the API has.
_LABEL_FIELDS: Final = ("matchLabels", "matchExpressions")
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "IdentitySelector": ("matchIdentities",),
    "LabelSelector": _LABEL_FIELDS,
    "PurposeSelector": ("matchPurposes",),
    "IdentityLabelSelector": ("matchIdentities", *_LABEL_FIELDS),
    "IdentityPurposeSelector": ("matchIdentities", "matchPurposes"),
    "LabelPurposeSelector": (*_LABEL_FIELDS, "matchPurposes"),
    "IdentityLabelPurposeSelector": ("matchIdentities", *_LABEL_FIELDS, "matchPurposes"),
}


class _Identity(msgspec.Struct):
    name: str | None = None
    namespace: str | None = None


class _Expression(msgspec.Struct):
    key: str | None = None
    operator: str | None = None
    values: list[str] | None = None


class _Shape(msgspec.Struct):
    """The types of all fields; everything else about them is checked where they are used."""

    matchIdentities: list[_Identity] | None = None  # noqa: N815 - the API's names
    matchLabels: dict[str, str] | None = None  # noqa: N815
    matchExpressions: list[_Expression] | None = None  # noqa: N815
    matchPurposes: list[_Expression] | None = None  # noqa: N815


_READS_IDENTITY: Final = frozenset({key_path("metadata", "name"), key_path("metadata", "namespace")})
_READS_PURPOSES: Final = frozenset({key_path("kind"), key_path("spec", "purposes"), key_path("spec", "purpose")})


class _PurposedSpec(Part, frozen=True):
    purpose: str = ""
    purposes: tuple[str, ...] = ()


class _PurposedObject(Node, frozen=True):
    """A Cluster, a ClusterRequest, or whatever else has purposes, as far as selectors look at it."""

    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()
    spec: _PurposedSpec = _PurposedSpec()

    @property
    def purposes(self) -> frozenset[str]:
        """A request has one purpose, and none is the empty one; everything else has a list of them."""
        return frozenset({self.spec.purpose} if self.kind == "ClusterRequest" else self.spec.purposes)


_OBJECTS: Final = Reader(_PurposedObject)
_SPECS: Final = Reader(ClusterSelectorSpec)


def purposes_of(obj: JsonMapping) -> frozenset[str]:
    """The purposes of an object as people write it."""
    return _OBJECTS.partly(dict(obj)).obj.purposes


@dataclass(frozen=True, slots=True)
class PurposeRequirement:
    """One condition on the set of purposes."""

    operator: str
    values: frozenset[str]

    def holds(self, purposes: frozenset[str]) -> bool:
        match self.operator:
            case "ContainsAll":
                return self.values <= purposes
            case "ContainsAny":
                return bool(self.values & purposes)
            case "ContainsNone":
                return not self.values & purposes
            case _:
                return self.values == purposes

    def __str__(self) -> str:
        return f"{self.operator} {', '.join(sorted(self.values)) or '(nothing)'}"


@dataclass(frozen=True, slots=True)
class PurposedSelector:
    """Any of the seven selector types, compiled. Parts that the type does not have are None."""

    identities: tuple[tuple[str, str], ...] | None  # (namespace, name); None restricts nothing, () matches nothing
    labels: LabelRequirements | None
    purposes: tuple[PurposeRequirement, ...]

    @property
    def is_empty(self) -> bool:
        return self.identities is None and (self.labels is None or self.labels.is_everything) and not self.purposes

    @property
    def reads(self) -> frozenset[Path]:
        if self.identities is not None:
            return _READS_IDENTITY
        labels = frozenset(label_path(each.key) for each in self.labels.requirements) if self.labels else frozenset()
        return labels | (_READS_PURPOSES if self.purposes else frozenset())

    def match(self, obj: JsonMapping) -> Match:
        found = _OBJECTS.partly(dict(expected(obj, Mapping, "obj", "an object, which is a mapping"))).obj
        metadata = found.metadata
        if self.identities is not None:
            identity = (metadata.namespace, metadata.name)
            if identity in self.identities:
                return yes(Reason(Code.IDENTITY_LISTED))
            named = "/".join(part for part in identity if part)
            return no(Reason(Code.IDENTITY_NOT_LISTED, values={"identity": named}))
        if self.labels is not None:
            for requirement in self.labels.requirements:
                if not requirement.matches(metadata.labels):
                    return no(partial(requirement_fails, "label", requirement, metadata.labels))
        purposes = found.purposes
        for wanted in self.purposes:
            if not wanted.holds(purposes):
                return no(partial(_purposes_differ, purposes, wanted))
        return yes(Reason(Code.SELECTOR_HOLDS))


def _purposes_differ(purposes: frozenset[str], wanted: PurposeRequirement) -> Reason:
    held = {"purposes": ", ".join(sorted(purposes))}
    return Reason(Code.PURPOSES_DIFFER, Subject(requirement=str(wanted)), values=held)


def purposed_selector(kind: str, spec: JsonMapping | None, path: str = "selector") -> PurposedSelector:
    """Compile a selector of one of the types in FIELDS; None restricts nothing. Raises with every fault at once."""
    if causes := purposed_selector_causes(kind, spec, path):
        raise InvalidObjectError("", sentence(causes))
    written = {} if spec is None else dict(spec)
    given = _SPECS.partly(written).obj
    identities = given.match_identities
    return PurposedSelector(
        identities=None if identities is None else tuple((each.namespace, each.name) for each in identities),
        labels=from_label_selector({key: written[key] for key in _LABEL_FIELDS if key in written}),
        purposes=tuple(PurposeRequirement(each.operator, frozenset(each.values)) for each in given.match_purposes),
    )


def type_fault(error: msgspec.ValidationError, path: str) -> Cause:
    """What has the wrong type, in words of ours and with its place."""
    told, _, where = str(error).partition(" - at `$")
    if found := _MISMATCH.fullmatch(told):
        wanted = " or ".join(_WORDS.get(each, each) for each in found[1].split(" | "))
        told = f"expected {wanted}, not {_WORDS.get(found[2], found[2])}"
    return Cause(TYPE_INVALID, path + where.rstrip("`"), f"Invalid value: {told}")


def purposed_selector_causes(kind: str, spec: JsonMapping | None, path: str) -> list[Cause]:
    """Everything that is wrong, with field paths."""
    if spec is None:
        return []
    try:
        msgspec.convert(spec, _Shape)
    except msgspec.ValidationError as error:
        return [type_fault(error, path)]
    causes = [
        invalid(f"{path}.{field}", field, f"{kind} has no such field; it has {', '.join(FIELDS[kind])}")
        for field in spec
        if field not in FIELDS[kind]
    ]
    causes += label_selector_causes({key: spec.get(key) for key in _LABEL_FIELDS}, path)
    for index, requirement in enumerate(_SPECS.partly(dict(spec)).obj.match_purposes):
        where = f"{path}.matchPurposes[{index}]"
        if requirement.operator not in OPERATORS:
            causes.append(not_supported(f"{where}.operator", requirement.operator, OPERATORS))
        elif requirement.operator == "ContainsAll" and not requirement.values:
            causes.append(required(f"{where}.values", "ContainsAll needs at least one purpose"))
    return causes


def resolve_reference(
    spec: JsonMapping | None, definitions: Mapping[str, JsonMapping], path: str = "selector"
) -> JsonMapping | None:
    """The selector that a selector-or-reference stands for: its own fields, or those of the definition it names."""
    if not spec:
        return None
    inline = [key for key in spec if key != "ref"]
    if "ref" not in spec:
        return spec
    if inline:
        raise InvalidObjectError(
            "", str(forbidden(f"{path}.ref", f"may not be set together with {', '.join(sorted(inline))}"))
        )
    if spec["ref"] not in definitions:
        known: Sequence[str] = sorted(definitions)
        raise InvalidObjectError("", str(not_supported(f"{path}.ref", spec["ref"], known)))
    return definitions[spec["ref"]]
