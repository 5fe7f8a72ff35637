"""What users write, by kind of selector, and the one door from it to a compiled selector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, assert_never, get_args

from muster.api.placement import ClusterSelector
from muster.api.reading import Reader
from muster.reasons import Code, Reason
from muster.selectors.cel import CelLimits, cel_compiler
from muster.selectors.cluster import compile_predicate
from muster.selectors.labels import compile_claim_selector, compile_label_selector
from muster.selectors.match import ANY_SIZE, Match, Selector, yes
from muster.selectors.membership import membership
from muster.selectors.purposes import FIELDS, purposed_selector
from muster.values.arguments import expected, texts
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from muster.selectors.cel import ScoreItems
    from muster.selectors.paths import Path

_CLUSTERS: Final = Reader(ClusterSelector)


@dataclass(frozen=True, slots=True)
class LabelSelectorSpec:
    """A metav1 LabelSelector; None selects nothing."""

    selector: JsonObject | None = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClaimSelectorSpec:
    """The same over cluster claims."""

    selector: JsonObject | None = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CelSelectorSpec:
    """CEL expressions over `managedCluster`, ANDed."""

    expressions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClusterSelectorSpec:
    """The selector of a Placement's predicate: labelSelector, claimSelector, celSelector."""

    selector: JsonObject


@dataclass(frozen=True, slots=True)
class PurposedSelectorSpec:
    """A selector over objects with purposes, by the name of its type; None restricts nothing."""

    kind: str
    selector: JsonObject | None


@dataclass(frozen=True, slots=True)
class MembershipSpec:
    """A ManagedClusterSet: its members."""

    cluster_set: JsonObject


SelectorSpec = (
    LabelSelectorSpec
    | ClaimSelectorSpec
    | CelSelectorSpec
    | ClusterSelectorSpec
    | PurposedSelectorSpec
    | MembershipSpec
)


_EVERY_PART: Final = Reason(Code.SELECTOR_HOLDS, parameters={"of": "part of the selector"})


@dataclass(frozen=True, slots=True)
class AllOf:
    """Parts that must all match; the first that does not says why."""

    parts: tuple[Selector, ...]

    @property
    def is_empty(self) -> bool:
        return all(part.is_empty for part in self.parts)

    @property
    def reads(self) -> frozenset[Path]:
        none: frozenset[Path] = frozenset()
        return none.union(*(part.reads for part in self.parts))

    def match(self, obj: JsonMapping) -> Match:
        matches: list[Match] = []
        for part in self.parts:
            match = part.match(obj)
            matches.append(match)
            if not match:
                return match if len(matches) == 1 else match.within(partial(_least, matches))
        return yes(_EVERY_PART, up_to=partial(_least, matches))


def _least(matches: list[Match]) -> int:
    return min((match.up_to for match in matches), default=ANY_SIZE)


def compile_selector(
    spec: SelectorSpec, *, scores: ScoreItems | None = None, limits: CelLimits | None = None
) -> Selector:
    """Ready to match. Raises InvalidObjectError with everything that is wrong."""
    expected(spec, get_args(SelectorSpec), "spec", "a specification such as LabelSelectorSpec, or what spec_of gives")
    if limits is not None:
        expected(limits, CelLimits, "limits", "CelLimits")
    match spec:
        case LabelSelectorSpec(selector):
            return compile_label_selector(selector)
        case ClaimSelectorSpec(selector):
            return compile_claim_selector(selector)
        case CelSelectorSpec(expressions):
            return AllOf(cel_compiler(scores, limits)(texts(expressions, "expressions")))
        case ClusterSelectorSpec(selector):
            return AllOf(compile_predicate(_CLUSTERS.demanded(selector), cel_compiler(scores, limits)))
        case PurposedSelectorSpec(kind, selector):
            return purposed_selector(kind, selector)
        case MembershipSpec(cluster_set):
            return membership(cluster_set)
        case _:
            assert_never(spec)


def spec_of(given: JsonObject) -> SelectorSpec:
    """The kind of selector that a document without a kind must be, judged by its fields."""
    expected(given, Mapping, "given", "a selector, which is a mapping")
    if given.keys() & {"labelSelector", "claimSelector", "celSelector"}:
        return ClusterSelectorSpec(given)
    if "celExpressions" in given:
        return CelSelectorSpec(texts(given["celExpressions"] or (), "celExpressions"))
    if given.get("kind") == "ManagedClusterSet":
        return MembershipSpec(given)
    return PurposedSelectorSpec(max(FIELDS, key=lambda kind: len(FIELDS[kind])), given)
