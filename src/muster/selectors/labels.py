"""Label and claim selectors over clusters, with Kubernetes' semantics. Claims are matched as if they were labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

from muster.api import parts
from muster.api.reading import Reader
from muster.errors import InvalidObjectError
from muster.reasons import Code, Reason, Subject
from muster.selectors.match import Match, no, yes
from muster.selectors.paths import Path, claim_path, key_path, label_path
from muster.values.json import JsonMapping
from muster.values.labels import NOTHING, InvalidSelectorError, object_selector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.api import placement
    from muster.reasons import Parameter
    from muster.values.labels import Requirement
    from muster.values.labels import Selector as Requirements


_SELECTORS: Final = Reader(parts.LabelSelector)
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_MOST_PATHS: Final = 32  # that a selector reads one by one


def labels_of(obj: JsonMapping) -> Mapping[str, str]:
    """The labels of an object as expressions see it. Asked of every cluster, so nothing else is read."""
    try:
        metadata = obj.get("metadata")
        labels = metadata.get("labels") if metadata else None
    except AttributeError:
        raise InvalidObjectError("", "an object is a mapping with a mapping called metadata") from None
    return labels or _NONE


def claims_of(cluster: JsonMapping) -> dict[str, str]:
    """Claims by name; of two with one name the last counts."""
    try:
        status = cluster.get("status")
        claims = status.get("clusterClaims") if status else None
    except AttributeError:
        raise InvalidObjectError("", "a cluster is a mapping; its status, where it has one, is a mapping too") from None
    if not claims:
        return {}
    return {_text(claim, "name"): _text(claim, "value") for claim in claims if isinstance(claim, dict)}


def _text(claim: JsonMapping, field: str) -> str:
    value = claim.get(field)
    return value or ""


@dataclass(frozen=True)
class LabelSelector:
    """Requirements on labels."""

    requirements: Requirements
    noun: str = "label"
    whole: ClassVar[Path] = key_path("metadata", "labels")

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Fleets ask for it all the time, and a selector may have thousands of requirements.
        return hash((self.noun, self.requirements))

    @property
    def is_empty(self) -> bool:
        return self.requirements.is_everything

    @cached_property
    def reads(self) -> frozenset[Path]:
        """Label by label, so that only changes of these matter; with very many of them, all labels as one."""
        paths = frozenset(self.path(each.key) for each in self.requirements.requirements)
        return paths if len(paths) <= _MOST_PATHS else frozenset({self.whole})

    def path(self, key: str) -> Path:
        return label_path(key)

    def values(self, obj: JsonMapping) -> Mapping[str, str]:
        return labels_of(obj)

    def match(self, obj: JsonMapping) -> Match:
        if self.requirements.nothing:
            return no(Reason(Code.SELECTOR_NULL, parameters={"noun": self.noun}))
        values = self.values(obj)
        for each in self.requirements.requirements:
            if not each.matches(values):
                return no(partial(requirement_fails, self.noun, each, values))
        return yes(self._holds)

    def _holds(self) -> Reason:
        return Reason(Code.REQUIREMENTS_HOLD, parameters={"noun": self.noun})


@dataclass(frozen=True)
class ClaimSelector(LabelSelector):
    """Requirements on claims."""

    noun: str = "claim"
    whole: ClassVar[Path] = key_path("status", "clusterClaims")
    __hash__ = LabelSelector.__hash__

    def path(self, key: str) -> Path:
        return claim_path(key)

    def values(self, obj: JsonMapping) -> Mapping[str, str]:
        return claims_of(obj)


def requirement_fails(noun: str, wanted: Requirement, values: Mapping[str, str]) -> Reason:
    """Why a requirement does not hold for an object with these labels or claims."""
    given: dict[str, Parameter] = {"noun": noun, "key": wanted.key, "expected": wanted.brief()}
    subject = Subject(requirement=str(wanted))
    return Reason(Code.REQUIREMENT_FAILS, subject, given, {"actual": values.get(wanted.key)})


def compile_label_selector(spec: JsonMapping | None) -> LabelSelector:
    """As people write it. Null selects nothing, `{}` everything. Raises InvalidObjectError in Kubernetes' words."""
    return label_selector(_read(spec))


def compile_claim_selector(spec: JsonMapping | None) -> ClaimSelector:
    return ClaimSelector(_requirements(_read(spec)))


def label_selector(spec: parts.LabelSelector | None) -> LabelSelector:
    """From an object that was read. None selects nothing. Raises InvalidObjectError in Kubernetes' words."""
    return LabelSelector(_requirements(spec))


def claim_selector(spec: placement.ClaimSelector) -> ClaimSelector:
    return ClaimSelector(_requirements(spec))


def _read(spec: JsonMapping | None) -> parts.LabelSelector | None:
    return None if spec is None else _SELECTORS.demanded(spec)


def _requirements(spec: parts.LabelSelector | None) -> Requirements:
    if spec is None:
        return NOTHING
    try:
        return object_selector(
            spec.match_labels, ((each.key, each.operator, each.values) for each in spec.match_expressions)
        )
    except InvalidSelectorError as error:
        raise InvalidObjectError("", str(error)) from error
