"""CEL selectors: expressions over `managedCluster`, compiled once, checked for type and cost before they ever run.

The language is imported with the first expression: many a fleet has none, and there is a lot of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Final, Protocol

from muster.errors import BudgetExceededError, EvaluationError, FailureKind, InvalidExpressionError, InvalidObjectError
from muster.reasons import Code, Reason, Subject
from muster.selectors.match import ANY_SIZE, Match, failed, no, yes
from muster.selectors.paths import SCORES, Path, describe
from muster.values.json import Json, JsonMapping
from muster.values.limits import InForce, limit
from muster.values.paths import PRESENT, Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muster.cel import CompileBudget
    from muster.cel.program import Program
    from muster.cel.values.value import Value
    from muster.selectors.cluster import CelCompiler
    from muster.selectors.match import Selector, UpTo

MOST_BYTES: Final = 10 * 1024
_SMALLEST_ELEMENT: Final = len('{"":""},')  # bytes of JSON with a text in a field
_SHOWN_VALUES: Final = 4
_SHOWN_LENGTH: Final = 60
_OMITTED: Final = ("clusterClaims", "capacity", "allocatable")
_OMITTED_OF_SPEC: Final = ("taints", "managedClusterClientConfigs", "leaseDurationSeconds")
_OMITTED_OF_METADATA: Final = ("labels", "annotations", "finalizers", "ownerReferences")


@dataclass(frozen=True, slots=True)
class CelLimits:
    """What an expression may cost: at worst by estimate, when it runs, and all of a selector's on one cluster."""

    estimate: int = limit(
        10_000_000,  # the language's STATIC_COST_LIMIT; a test compares them
        "cel estimated cost",
        "What an expression of a placement may cost at worst, by CEL's estimate.",
        "the placement is misconfigured; refused where placements are",
    )
    expression: int = limit(
        1_000_000,
        "cel cost per expression",
        "What an expression may cost on one cluster, in CEL's units.",
        "an error on that cluster, which is not selected",
    )
    cluster: int = limit(
        10_000_000,
        "cel cost per cluster",
        "What all expressions of a selector may cost on one cluster.",
        "an error on that cluster, which is not selected",
    )


CEL_LIMITS: Final = InForce(CelLimits())
"""The limits of whoever names none."""


class CostLimitError(InvalidObjectError):
    """An expression that may cost more than its limit. Admission refuses it; other faults it only warns of."""


class BrokenExpressionError(InvalidObjectError):
    """An expression that does not compile. Its text is given by the specification, and stands by itself."""


class ScoreItems(Protocol):
    """Where the scores of clusters are: items by name of the score, without those that have expired."""

    def items_of(self, cluster: str) -> Mapping[str, Sequence[JsonMapping]]: ...


class NoScores:
    """For selections that have no scores at hand."""

    def items_of(self, cluster: str) -> Mapping[str, Sequence[JsonMapping]]:  # noqa: ARG002 - the protocol
        return {}


@dataclass(frozen=True, slots=True)
class CelSelector:
    """Expressions that must all be true. Equal when their texts and limits are."""

    programs: tuple[Program, ...]
    scores: ScoreItems
    limits: CelLimits
    _reads_scores: bool = field(init=False, repr=False)
    _leaves_out: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Asked for every cluster of a fleet.
        reads = any(path[1:2] == (SCORES,) for program in self.programs for path in program.reads)
        object.__setattr__(self, "_reads_scores", reads)
        object.__setattr__(self, "_leaves_out", any(program.all_reads.costs for program in self.programs))

    @property
    def is_empty(self) -> bool:
        return not self.programs

    @property
    def reads(self) -> frozenset[Path]:
        return frozenset(path_of(each) for program in self.programs for each in program.reads)

    def match(self, obj: JsonMapping) -> Match:
        """Never raises: a fault of the language's implementation is an error on this object, and stops no other."""
        text = ""
        costs: list[int] = []
        try:
            variables = {"managedCluster": self.view(obj)}
            left = self.limits.cluster
            for program in self.programs:
                text = program.text
                value, cost = program.run(variables, min(left, self.limits.expression))
                left -= cost
                costs.append(cost)
                if value is not True:
                    return self._judged(program, value, obj, self._how_far(costs))
        except Exception as error:  # whatever it is, it concerns one expression on one object
            message = f"a fault of muster itself ({type(error).__name__})"
            return failed(_failure(text, FailureKind.INTERNAL, message), alone=True)
        return yes(_EVERY_ONE, up_to=self._how_far(costs))

    def reach(self, cost: int) -> int:
        """Up to which size of an object something holds that was found of one expression at this cost."""
        return self._up_to((cost,)) if self._leaves_out else ANY_SIZE

    def _how_far(self, costs: list[int]) -> UpTo:
        return partial(self._up_to, costs) if self._leaves_out else ANY_SIZE

    def _up_to(self, costs: Sequence[int]) -> int:
        """The bytes of an object that looks the same, and can cost no more than it may after these costs.

        A list that the expressions look at only in part may hold more of the rest there, but no more than the object is
        large.
        """
        limit = min(self.limits.expression, self.limits.cluster)
        elements, added = ANY_SIZE, 0
        for program, cost in zip(self.programs, costs, strict=False):
            reads = program.all_reads
            elements = min(elements, reads.elements_within(cost, limit))
            added += reads.per_element(cost)
        if len(costs) > 1 and added:
            elements = min(elements, max(self.limits.cluster - sum(costs), 0) // added)
        return min(_SMALLEST_ELEMENT * elements, ANY_SIZE)

    @staticmethod
    def _judged(program: Program, value: Value, obj: JsonMapping, up_to: UpTo) -> Match:
        """What a value that is not true means."""
        if isinstance(value, EvaluationError):
            exhausted = isinstance(value, BudgetExceededError)
            why = partial(_failure, program.text, value.kind, str(value))
            return failed(why, alone=exhausted, up_to=up_to)
        if value is False:
            return no(partial(_falsehood, program, obj), up_to=up_to)
        from muster.cel.values.model import type_of

        return failed(partial(_no_boolean, program.text, type_of(value).name), up_to=up_to)

    def view(self, obj: JsonMapping) -> JsonMapping:
        """The cluster as the expressions see it."""
        cluster = typed_view(obj)
        if not self._reads_scores:
            return cluster
        name = _section(obj, "metadata").get("name", "")
        return {**cluster, SCORES: self.scores.items_of(name)}

    def __hash__(self) -> int:
        return hash(tuple(program.text for program in self.programs))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, CelSelector)
            and [each.text for each in self.programs] == [each.text for each in other.programs]
            and self.scores is other.scores
            and self.limits == other.limits
        )


_EVERY_ONE: Final = Reason(Code.EXPRESSIONS_TRUE)


def _failure(text: str, kind: FailureKind, message: str) -> Reason:
    return Reason(Code.EXPRESSION_FAILED, Subject(expression=text), {"error": kind.value}, {"message": message})


def _no_boolean(text: str, kind: str) -> Reason:
    return Reason(Code.EXPRESSION_NOT_BOOLEAN, Subject(expression=text), values={"type": kind})


def _falsehood(program: Program, obj: JsonMapping) -> Reason:
    """With the values that the expression looked at, as far as they are short and few."""
    paths = (path_of(read) for read in program.reads)
    shown = sorted((path for path in paths if path and path[0] != SCORES and PRESENT not in path), key=repr)
    values = {describe(path): _shown(_value(obj, path)) for path in shown[:_SHOWN_VALUES]}
    return Reason(Code.EXPRESSION_FALSE, Subject(expression=program.text), values=values)


def cel_compiler(scores: ScoreItems | None = None, limits: CelLimits | None = None) -> CelCompiler:
    """A compiler of celExpressions. They are kept apart as long as their limits together stay within the cluster's."""
    source, bounds = scores or NoScores(), limits or CEL_LIMITS.value

    def compile_expressions(expressions: Sequence[str]) -> tuple[Selector, ...]:
        programs = tuple(compile_cel(text, bounds) for text in expressions)
        if len(programs) * bounds.expression <= bounds.cluster:
            return tuple(CelSelector((program,), source, bounds) for program in programs)
        return (CelSelector(programs, source, bounds),)

    return compile_expressions


def compile_cel(text: str, limits: CelLimits, budget: CompileBudget | None = None) -> Program:
    """One expression. Raises InvalidObjectError in the words of the specification, CostLimitError for its cost."""
    size = len(text.encode())
    if size > MOST_BYTES:
        raise InvalidObjectError("", f"a CEL expression has {size} bytes; at most {MOST_BYTES} are taken")
    from muster.cel.checking.types import Kind
    from muster.cel.environments import environment
    from muster.cel.libraries.ocm_sizes import managed_cluster_sizes
    from muster.cel.program import compile_program

    try:
        program = compile_program(text, environment("muster"), budget)
    except InvalidExpressionError as error:
        raise BrokenExpressionError("", f"failed to compile CEL expression '{text}': {error}") from error
    if program.result_type.kind not in (Kind.BOOL, Kind.DYN, Kind.ANY):
        raise BrokenExpressionError(
            "", f"failed to compile CEL expression '{text}': must evaluate to bool, not {program.result_type}"
        )
    worst = program.estimate(managed_cluster_sizes).max
    if worst > limits.estimate:
        from muster.selectors.cel_costs import costliest_part

        raise CostLimitError(
            "",
            f"CEL expression '{text}' may cost up to {worst}, more than the limit of {limits.estimate}: "
            f"most of it is {costliest_part(program)}; compare fewer elements there, or shorter strings",
        )
    return program


def typed_view(cluster: JsonMapping) -> JsonMapping:
    """A cluster as OCM's expressions see it: with what its Go types always have, without what they drop when empty.

    Real clusters nearly always have all of it, and are then used as they are.
    """
    view = cluster
    spec, status = _section(cluster, "spec"), _section(cluster, "status")
    taints = spec.get("taints")
    if isinstance(taints, list) and _has_empty_value(taints):
        spec = {**spec, "taints": [_without_empty(taint, ("value",)) for taint in taints]}
        view = {**view, "spec": spec}
    if "hubAcceptsClient" not in spec or _has_empty(spec, _OMITTED_OF_SPEC):
        view = {**view, "spec": {"hubAcceptsClient": False, **_without_empty(spec, _OMITTED_OF_SPEC)}}
    version = status.get("version")
    if isinstance(version, dict) and not version.get("kubernetes", True):
        status = {**status, "version": _without_empty(version, ("kubernetes",))}
        view = {**view, "status": status}
    if "conditions" not in status or "version" not in status or _has_empty(status, _OMITTED):
        view = {**view, "status": {"conditions": None, "version": {}, **_without_empty(status, _OMITTED)}}
    metadata = _section(cluster, "metadata")
    if _has_empty(metadata, _OMITTED_OF_METADATA):
        view = {**view, "metadata": _without_empty(metadata, _OMITTED_OF_METADATA)}
    return view


def _section(cluster: JsonMapping, name: str) -> JsonMapping:
    """A part of a cluster; an empty one where there is none, or something else, which only files can hold."""
    found = cluster.get(name)
    return found if isinstance(found, dict) else {}


def _has_empty(fields: JsonMapping, names: tuple[str, ...]) -> bool:
    return any(name in fields and not fields[name] for name in names)


def _has_empty_value(taints: Sequence[Json]) -> bool:
    return any(isinstance(each, dict) and each.get("value") == "" for each in taints)


def _without_empty(fields: Json, names: tuple[str, ...]) -> Json:
    """What Go drops when it is empty; what is no mapping stays as it is."""
    if not isinstance(fields, dict):
        return fields
    return {key: value for key, value in fields.items() if value or key not in names}


def path_of(read: Path) -> Path:
    """Where in a cluster a path of the language leads. Of a position in a list, the list: the fleet's columns are of
    fields."""
    return tuple(takewhile(lambda step: isinstance(step, str | Where) or step is PRESENT, read[1:]))


def _shown(value: Json) -> str:
    """A value as Python writes it, or its beginning: a list of thousands is not written out to be cut."""
    text = ""
    for piece in _pieces(value):
        text += piece
        if len(text) > _SHOWN_LENGTH:
            return f"{text[:_SHOWN_LENGTH]}…"
    return text


def _pieces(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield repr(value[: 2 * _SHOWN_LENGTH])
        case list():
            for number, each in enumerate(value):
                yield ", " if number else "["
                yield from _pieces(each)
            yield "]" if value else "[]"
        case dict():
            for number, (key, each) in enumerate(value.items()):
                yield f"{', ' if number else '{'}{key!r}: "
                yield from _pieces(each)
            yield "}" if value else "{}"
        case _:
            yield repr(value)


def _value(obj: Json, path: Path) -> Json:
    value = obj
    for step in path:
        if isinstance(step, Where) and isinstance(value, list):
            value = [each for each in value if isinstance(each, dict) and each.get(step.field) == step.value]
        elif isinstance(step, str) and isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return None
    return value
