"""Comparisons inside an expression that hold for no cluster there is, found by watching it being evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.cel.syntax.traversal import children, descendants
from muster.cel.syntax.tree import Call, Literal
from muster.cel.syntax.unparser import unparse
from muster.placement.explain.clauses import plain_value
from muster.placement.lint.findings import Finding
from muster.placement.lint.requirements import some_of
from muster.selectors.cel import path_of
from muster.selectors.cel_reasons import shortened
from muster.selectors.paths import SCORES, describe
from muster.values.nearest import nearest
from muster.values.paths import PRESENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel.running.interpreter import Trace
    from muster.cel.syntax.tree import Expr
    from muster.placement.lint.fleet_facts import GroupedFleet, Vocabulary
    from muster.selectors.cel import CelSelector
    from muster.selectors.paths import Path

_MOST_TRACED: Final = 256  # clusters on which an expression is watched


def never_true(selector: CelSelector, where: str, known: Vocabulary, *, selects: bool) -> Iterator[Finding]:
    """Parts that would have to hold and never do. When each part holds somewhere, the whole, if it never does."""
    (program,) = selector.programs
    wanted = dict(_atoms(program.tree.expr))
    open_ = {node.id: node for node in wanted}
    looked_at: set[int] = set()
    examples = known.grouped.examples(selector.reads)
    for cluster in examples[:_MOST_TRACED]:
        if not open_:
            break
        trace = program.trace({"managedCluster": selector.view(cluster)})
        looked_at |= open_.keys() & trace.values.keys()
        for node in list(open_.values()):
            if _came_to(trace, node, wanted[node]):
                del open_[node.id]
    never = [node for node in open_.values() if node.id in looked_at] if len(examples) <= _MOST_TRACED else []
    for node in never:
        text = unparse(program.tree, node)
        said = "is true for no cluster" if wanted[node] else "is false for no cluster"
        subject = "the expression" if node is program.tree.expr else f"'{shortened(text)}'"
        fix = _values_there_are(selector, node, known.grouped)
        offset = program.tree.tree.offsets.get(node.id)
        yield Finding("never-holds", where, f"{subject} {said}", fix, program.text, offset)
    if not never and not selects:
        message = "the expression is true for no cluster, though each of its parts is for some"
        yield Finding("never-holds", where, message, "loosen one of the parts", program.text, 0)


def _atoms(root: Expr) -> Iterator[tuple[Expr, bool]]:
    """The parts between `&&`, `||` and `!`, with what each would have to be for the whole to be true."""
    stack = [(root, True)]
    while stack:
        node, wanted = stack.pop()
        match node:
            case Call(function="_&&_" | "_||_", args=args):
                stack.extend((arg, wanted) for arg in reversed(args))
            case Call(function="!_", args=(inner,)):
                stack.append((inner, not wanted))
            case Literal():
                continue
            case Call(function="_?_:_", args=(_, positive, negative)):
                stack.extend(((negative, wanted), (positive, wanted)))
            case _:
                yield node, wanted


def _came_to(trace: Trace, node: Expr, wanted: bool) -> bool:
    return any(value is wanted for value in trace.values.get(node.id, ()))


def _values_there_are(selector: CelSelector, node: Expr, grouped: GroupedFleet) -> str:
    """What clusters have where the comparison looks, and which of it may have been meant."""
    paths = sorted({path_of(read) for program in selector.programs for read in program.reads}, key=repr)
    texts = list(_texts(node))
    named = [path for path in paths if _names_path(path, texts)] or (paths if len(paths) == 1 else [])
    if len(named) != 1 or PRESENT in named[0] or named[0][:1] == (SCORES,) or not named[0]:
        return ""
    values = frozenset(value for each in grouped.values(named[0]) if (value := plain_value(each)) is not None)
    if not values:
        return ""
    equates = any(isinstance(part, Call) and part.function in ("_==_", "@in") for part in descendants(node))
    close = next((found for text in texts if (found := nearest(text, values, 1))), []) if equates else []
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"{describe(named[0]).removeprefix('metadata.')} is {some_of(values)}{hint}"


def _texts(node: Expr) -> Iterator[str]:
    """Everything that is written out inside a part: names of fields, keys and texts."""
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, Literal) and isinstance(part.value, str):
            yield part.value
        elif hasattr(part, "field"):
            yield part.field
        stack.extend(children(part))


def _names_path(path: Path, texts: list[str]) -> bool:
    last = path[-1] if path else ""
    return (last if isinstance(last, str) else getattr(last, "value", "")) in texts
