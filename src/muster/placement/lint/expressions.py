"""CEL expressions that cannot be meant: that do not compile, read what no cluster has, fail on some, never hold, cost.

What an expression does on the fleet is found by running it on one cluster of each kind, not by guessing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.cel.checking.types import Kind
from muster.cel.environments import environment
from muster.cel.libraries.ocm_sizes import managed_cluster_sizes
from muster.cel.program import compile_program
from muster.cel.syntax.traversal import descendants
from muster.cel.syntax.tree import Call, Comprehension, Literal, Select
from muster.cel.syntax.unparser import unparse
from muster.errors import EvaluationError, FailureKind, InvalidExpressionError, InvalidObjectError
from muster.placement.lint.cluster_fields import unknown_fields
from muster.placement.lint.comparisons import never_true
from muster.placement.lint.findings import Finding, close_to
from muster.selectors import Verdict
from muster.selectors.cel import CelSelector, CostLimitError, compile_cel
from muster.selectors.cel_costs import costliest_node, costliest_part
from muster.selectors.cel_reasons import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.cel.program import Program
    from muster.cel.syntax.tree import Expr
    from muster.cel.values.value import Value
    from muster.placement.lint.fleet_facts import Vocabulary
    from muster.selectors.cel import CelLimits

_COSTLY: Final = 0.25  # of the limit
_COMPARING: Final = ("_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_")
_EMPTY: Final = {
    Kind.BOOL: "false",
    Kind.DOUBLE: "0.0",
    Kind.INT: "0",
    Kind.LIST: "[]",
    Kind.MAP: "{}",
    Kind.STRING: '""',
    Kind.UINT: "0u",
}
_INDEXING: Final = {"_[_]": False, "_[?_]": True, "_?._": True}


def uncompilable(text: str, where: str, limits: CelLimits) -> Iterator[Finding]:
    """Everything that keeps an expression from running, each with its place."""
    try:
        compile_cel(text, limits)
    except CostLimitError:
        program = compile_program(text, environment("muster"))
        worst = program.estimate(managed_cluster_sizes).max
        yield _too_much(
            "too-costly", where, f"may cost up to {worst:,}, more than the limit of {limits.estimate:,}", program
        )
    except InvalidObjectError as error:
        cause = error.__cause__
        if not isinstance(cause, InvalidExpressionError):
            yield Finding("invalid-expression", where, error.reason, expression=text, offset=0)
            return
        for each in cause.diagnostics:
            message = f"undeclared reference to '{each.undeclared}'" if each.undeclared else each.message
            fix = close_to(each.undeclared, _names()) if each.undeclared else ""
            yield Finding("invalid-expression", where, message, fix, text, each.offset)


def _names() -> list[str]:
    env = environment("muster")
    macros = [name for name, _, _ in env.macros]
    return [name for name in {*env.functions, *macros, *env.variables} if name[:1].isalpha()]


def costs(program: Program, where: str, limit: int) -> Iterator[Finding]:
    """The cost at worst, with the part that costs most."""
    worst = program.estimate(managed_cluster_sizes).max
    if worst > _COSTLY * limit:
        message = f"may cost up to {worst:,}, {worst / limit:.0%} of the limit of {limit:,}"
        yield _too_much("costly-expression", where, message, program)


def _too_much(code: str, where: str, message: str, program: Program) -> Finding:
    offset = program.tree.tree.offsets.get(costliest_node(program).id)
    fix = f"most of it is {shortened(costliest_part(program))}: compare fewer or shorter things there"
    return Finding(code, where, message, fix, program.text, offset)


def on_the_fleet(part: CelSelector, fields: Sequence[str], known: Vocabulary) -> Iterator[Finding]:
    """What a selector's expressions do on the clusters there are."""
    for program, where in zip(part.programs, fields, strict=True):
        alone = part if len(part.programs) == 1 else CelSelector((program,), part.scores, part.limits)
        verdicts = known.grouped.verdicts(alone)
        selects = verdicts is None or bool((verdicts == Verdict.YES).any())
        unknown = [*unknown_fields(program, where, known, selects=selects)]
        yield from unknown
        if unknown or verdicts is None:
            continue
        failing = int((verdicts == Verdict.ERROR).sum())
        if failing:
            yield _failure(alone, where, known, failing)
        if failing < len(verdicts):
            yield from never_true(alone, where, known, selects=selects)


def _failure(selector: CelSelector, where: str, known: Vocabulary, failing: int) -> Finding:
    (program,) = selector.programs
    error = next(
        (value for value in _values(selector, known) if isinstance(value, EvaluationError)), EvaluationError("unknown")
    )
    place = _access(program, error.about) if error.kind is FailureKind.NO_SUCH_KEY else None
    offset = None if place is None else program.tree.tree.offsets.get(place.id)
    message = f"fails on {failing:,} of {known.clusters:,} clusters, which are not selected then: {error}"
    fix = "guard it with has(), or give a default with .orValue()" if place is None else _safe(program, place)
    return Finding("missing-key", where, message, fix, program.text, 0 if offset is None else offset)


def _values(selector: CelSelector, known: Vocabulary) -> Iterator[Value]:
    (program,) = selector.programs
    for cluster in known.grouped.examples(selector.reads):
        yield program.run({"managedCluster": selector.view(cluster)}, selector.limits.expression)[0]


def _access(program: Program, key: str) -> Expr | None:
    """The part that takes the key without asking for it first."""
    for node in descendants(program.tree.expr):
        match node:
            case Select(field=name, test_only=False) if name == key:
                return node
            case Call(function="_[_]", args=(_, Literal(value=name))) if name == key:
                return node
    return None


def _safe(program: Program, node: Expr) -> str:
    """The same part, so that a missing key is an empty value: the way to it becomes optional."""
    steps: list[str] = []
    at: Expr = node
    while True:
        match at:
            case Select(operand=operand, field=name):
                steps.append(f".?{name}" if name.isidentifier() else f'[?"{name}"]')
                at = operand
            case Call(function=function, args=(operand, Literal(value=str(name)))) if function in _INDEXING:
                steps.append(f'[?"{name}"]')
                at = operand
            case _:
                break
    root, written = unparse(program.tree, at), "".join(reversed(steps))
    # metadata.labels is always asked for by name: only what may be missing need be optional.
    if written.startswith(".?metadata.?labels"):
        written = ".metadata.?labels" + written.removeprefix(".?metadata.?labels")
    return f"write {root}{written}.orValue({_empty(program, node)})"


def _empty(program: Program, node: Expr) -> str:
    """What stands for a part that is missing: by its type, or by what is done with it where its type is not known."""
    known = program.tree.types.get(node.id)
    if known is not None and known.kind in _EMPTY:
        return _EMPTY[known.kind]
    for parent in descendants(program.tree.expr):
        match parent:
            case Comprehension(iter_range=over) if over is node:
                return "[]"
            case Call(function="@in", args=(_, among)) if among is node:
                return "[]"
            case Call(function=function, args=(left, right)) if function in _COMPARING and node in (left, right):
                other = right if left is node else left
                kind = program.tree.types.get(other.id)
                if kind is not None and kind.kind in _EMPTY:
                    return _EMPTY[kind.kind]
    return '""'
