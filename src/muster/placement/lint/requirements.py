"""Label and claim requirements that cannot be meant: of themselves, and given what clusters have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.placement.lint.findings import Finding, close_to, meant
from muster.values.labels import Operator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.api import parts
    from muster.placement.lint.fleet_facts import Vocabulary
    from muster.selectors.labels import LabelSelector
    from muster.values.labels import Requirement

_POSITIVE: Final = (Operator.IN, Operator.EQUALS, Operator.DOUBLE_EQUALS)
_NEGATIVE: Final = (Operator.NOT_IN, Operator.NOT_EQUALS)
_MOST_VALUES: Final = 5


def implies(one: Requirement, other: Requirement) -> bool:
    """Whether whatever meets the first meets the second."""
    if one == other:
        return True
    if one.key != other.key or one.operator not in _POSITIVE:
        return False
    match other.operator:
        case Operator.EXISTS:
            return True
        case operator if operator in _POSITIVE:
            return one.values <= other.values
        case operator if operator in _NEGATIVE:
            return not one.values & other.values
        case _:
            return False


def contradictions(selector: LabelSelector, where: str, spec: parts.LabelSelector | None) -> Iterator[Finding]:
    """Pairs of requirements that nothing can meet together."""
    requirements = selector.requirements.requirements
    for at, one in enumerate(requirements):
        for other in requirements[at + 1 :]:
            if one.key == other.key and (_exclude(one, other) or _exclude(other, one)):
                message = f"{one} and {other} exclude each other: nothing can match"
                yield Finding("contradiction", field_of(where, spec, other), message, "remove one of them")


def _exclude(one: Requirement, other: Requirement) -> bool:
    if one.operator is Operator.EXISTS:
        return other.operator is Operator.DOES_NOT_EXIST
    if one.operator not in _POSITIVE:
        return False
    match other.operator:
        case Operator.DOES_NOT_EXIST:
            return True
        case operator if operator in _POSITIVE:
            return not one.values & other.values
        case operator if operator in _NEGATIVE:
            return one.values <= other.values
        case _:
            return False


def unmet(
    selector: LabelSelector, where: str, spec: parts.LabelSelector | None, known: Vocabulary
) -> Iterator[Finding]:
    """Requirements that ask for a key or a value that no cluster has."""
    present = known.labels if selector.noun == "label" else known.claims
    for each in selector.requirements.requirements:
        field = field_of(where, spec, each)
        if each.operator in _NEGATIVE or each.operator is Operator.DOES_NOT_EXIST:
            continue
        if each.key not in present:
            code = f"no-such-{selector.noun}"
            yield Finding(code, field, f"no cluster has the {selector.noun} {each.key!r}", meant(each.key, present))
        elif not any(each.matches({each.key: value}) for value in present[each.key]):
            message = f"no cluster meets {each}: {selector.noun} {each.key} is {some_of(present[each.key])}"
            yield Finding("never-holds", field, message, _value_meant(each, present[each.key]))


def some_of(values: frozenset[str]) -> str:
    """A few of the values that there are."""
    shown = ", ".join(sorted(values)[:_MOST_VALUES])
    return f"{shown}, … ({len(values)} values)" if len(values) > _MOST_VALUES else shown or "nothing"


def _value_meant(requirement: Requirement, present: frozenset[str]) -> str:
    return next((hint for value in sorted(requirement.values) if (hint := close_to(value, present))), "")


def field_of(where: str, spec: parts.LabelSelector | None, requirement: Requirement) -> str:
    """The very field of a requirement in the selector as it was written; without that, the selector."""
    if spec is None:
        return where
    for index, expression in enumerate(spec.match_expressions):
        if expression.key == requirement.key and set(expression.values) == requirement.values:
            return f"{where}.matchExpressions[{index}]"
    if requirement.key in spec.match_labels:
        return f"{where}.matchLabels.{requirement.key}"
    return where
