"""From what a question asks to what can be looked at, and diagnostics with positions for what cannot.

Compiling may take long, so that it is done beside the loop: nothing here touches the world.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from muster.api.fleet_evaluation import Cost
from muster.api.fleet_parts import ERROR, WARNING, Diagnostic, positions_of
from muster.api.placement import ClusterSelector
from muster.api.reading import Reader
from muster.cel.checking.types import DYN, STRING, map_of
from muster.cel.declarations import Variable
from muster.cel.environments import environment
from muster.cel.libraries.ocm_sizes import managed_cluster_sizes
from muster.cel.program import compile_program
from muster.errors import InvalidExpressionError, InvalidObjectError, MusterError
from muster.questions.asked import CLUSTERS
from muster.questions.looks import ExpressionLook, SelectorLook
from muster.selectors import PurposedSelectorSpec, compile_selector, spec_of
from muster.selectors.cel import CEL_LIMITS, MOST_BYTES, CelSelector, cel_compiler
from muster.selectors.cluster import compile_predicate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muster.api.fleet_parts import Chosen
    from muster.cel.environment import Env
    from muster.questions.looks import Look
    from muster.selectors import Selector, SelectorSpec
    from muster.selectors.cel import ScoreItems
    from muster.values.json import Json, JsonMapping, JsonObject

_PREDICATES: Final = Reader(ClusterSelector)
_OBJECT: Final = Variable("object", map_of(STRING, DYN), "The object that is looked at.")
_EVERYTHING: Final = SelectorLook(())


class FaultyError(MusterError):
    """What is asked cannot be evaluated; says all that is wrong."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        super().__init__(diagnostics)

    def __str__(self) -> str:
        return "; ".join(each.message for each in self.diagnostics)


@dataclass(frozen=True, slots=True)
class Compiler:
    """Compiles for one resource. `scores` are those that expressions over clusters may ask for."""

    resource: str
    scores: ScoreItems

    def chosen(self, asked: Chosen) -> Look:
        """What objects are chosen by: everything, if nothing is said. Raises FaultyError."""
        if asked.expression:
            return self.expression(asked.expression, "spec.expression")
        if asked.selector is not None:
            return self._selector(asked.selector)
        if asked.predicates:
            return self._predicates(asked.predicates)
        return _EVERYTHING

    def expression(self, text: str, field: str) -> ExpressionLook:
        """An expression of any type. Raises FaultyError."""
        if (size := len(text.encode())) > MOST_BYTES:
            raise FaultyError((Diagnostic(field, f"it has {size} bytes; at most {MOST_BYTES} are taken", ERROR),))
        try:
            program = compile_program(text, environment("muster") if self.resource == CLUSTERS else _other_env())
        except InvalidExpressionError as error:
            raise FaultyError(tuple(positions_of(error, field))) from error
        limits = CEL_LIMITS.value
        if self.resource != CLUSTERS:
            return ExpressionLook(program, None, _as_object, limits.expression)
        selector = CelSelector((program,), self.scores, limits)
        return ExpressionLook(program, selector, lambda obj: {"managedCluster": selector.view(obj)}, limits.expression)

    def _selector(self, selector: JsonObject) -> SelectorLook:
        try:
            spec = spec_of(selector)
            self._refuse_others(spec)
            return SelectorLook(((compile_selector(spec, scores=self.scores),),))
        except (InvalidObjectError, InvalidExpressionError) as error:
            raise _faulty(error, selector, "spec.selector") from error
        except (TypeError, AttributeError, KeyError, ValueError) as error:  # of another shape than any selector
            raise FaultyError((Diagnostic("spec.selector", f"it is no selector ({error})", ERROR),)) from error

    def _refuse_others(self, spec: SelectorSpec) -> None:
        """Claims, members of sets and expressions over managedCluster make sense of clusters only."""
        if self.resource != CLUSTERS and not isinstance(spec, PurposedSelectorSpec):
            what = "selects by labels, identities and purposes, not as placements and sets do"
            raise InvalidObjectError("", f"a question about {self.resource} {what}")

    def _predicates(self, predicates: tuple[JsonObject, ...]) -> SelectorLook:
        compile_cel = cel_compiler(self.scores)
        found: list[tuple[Selector, ...]] = []
        wrong: list[Diagnostic] = []
        for number, each in enumerate(predicates):
            field = f"spec.predicates[{number}].requiredClusterSelector"
            try:
                wanted = each.get("requiredClusterSelector", {})
                found.append(compile_predicate(_PREDICATES.demanded(wanted), compile_cel))
            except (InvalidObjectError, InvalidExpressionError) as error:
                wrong += _faulty(error, each, field.rpartition(".")[0]).diagnostics
        if wrong:
            raise FaultyError(tuple(wrong))
        return SelectorLook(tuple(found))


def costs(look: Look) -> Cost | None:
    """What an expression may cost, before it has been evaluated anywhere."""
    if not isinstance(look, ExpressionLook):
        return None
    estimate, limits = look.program.estimate(managed_cluster_sizes), CEL_LIMITS.value
    return Cost(_bounded(estimate.min), _bounded(estimate.max), limits.estimate, 0, limits.expression)


def cost_warning(cost: Cost | None) -> tuple[Diagnostic, ...]:
    """What is to be said of an expression that placements could not have."""
    if cost is None or cost.estimate_most <= cost.estimate_limit:
        return ()
    message = (
        f"it may cost up to {cost.estimate_most}, more than the limit of {cost.estimate_limit}: "
        "a placement with it would be refused"
    )
    return (Diagnostic("spec.expression", message, WARNING),)


def _bounded(units: int) -> int:
    return min(units, 2**63 - 1)


def _faulty(error: InvalidObjectError | InvalidExpressionError, given: JsonMapping, field: str) -> FaultyError:
    """With the position, where it is an expression that is wrong."""
    cause = error if isinstance(error, InvalidExpressionError) else error.__cause__
    if isinstance(cause, InvalidExpressionError):
        where = next((path for path, text in _texts(given, field) if text == cause.source.text), field)
        return FaultyError(tuple(positions_of(cause, where)))
    return FaultyError((Diagnostic(field, str(error), ERROR),))


def _texts(given: Json, path: str) -> Iterator[tuple[str, str]]:
    """Every text in a value, by its path."""
    if isinstance(given, str):
        yield path, given
    elif isinstance(given, dict):
        for key, value in given.items():
            yield from _texts(value, f"{path}.{key}")
    elif isinstance(given, list):
        for number, value in enumerate(given):
            yield from _texts(value, f"{path}[{number}]")


def _as_object(obj: JsonMapping) -> Mapping[str, JsonMapping]:
    return {"object": obj}


@lru_cache(maxsize=1)
def _other_env() -> Env:
    """For resources other than managedclusters: the same functions over `object`."""
    return replace(environment("muster"), variables={"object": _OBJECT})
