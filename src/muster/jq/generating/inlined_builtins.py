"""Builtins that deserve code of their own: they stop early, recurse over data, or update in one pass.

Their definitions in jq stay the truth, which the reference evaluator runs; tests compare the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.jq.generating.cardinality import AT_MOST_ONE, MANY, ONE
from muster.jq.generating.expressions import truth
from muster.jq.resolving import resolved as r

if TYPE_CHECKING:
    from muster.jq.generating.base import Consumer
    from muster.jq.generating.scope import Scope
    from muster.jq.generating.single_outputs import SingleOutputs as Generator


def _key(node: r.CallFunction) -> tuple[str, int] | None:
    return (node.function.name, node.function.arity) if node.function.builtin else None


def inlined_value(g: Generator, node: r.CallFunction, scope: Scope, value: str) -> str | None:
    """An expression, for builtins with exactly one output."""
    match _key(node):
        case ("any", 2):
            return _exists(g, node, scope, value, wanted=True)
        case ("all", 2):
            return _exists(g, node, scope, value, wanted=False)
        case ("isempty", 1):
            return _is_empty(g, node.args[0], scope, value)
        case ("until", 2) if g.counts.of(node, scope) is ONE:
            return _until(g, node, scope, value)
        case ("walk", 1) if g.counts.of(node, scope) is ONE:
            return _walk(g, node.args[0], scope, value)
        case _:
            return None


def inlined_outputs(
    g: Generator, node: r.CallFunction, scope: Scope, value: str, consume: Consumer, *, cheap: bool
) -> bool:
    """Writes the builtin's code and says so, or does nothing."""
    if g.counts.of(node, scope) is ONE:
        known = inlined_value(g, node, scope, value)
        if known is not None:
            consume(known)
        return known is not None
    match _key(node):
        case ("first", 1):
            _first(g, node.args[0], scope, value, consume, cheap=cheap)
        case ("recurse", 0):
            g.looped(f"recurse_all(b, {value})", consume)
        case ("recurse", 1):
            _recurse(g, node.args[0], scope, value, consume)
        case ("while", 2) if all(g.counts.of(arg, scope) is ONE for arg in node.args):
            _while(g, node, scope, value, consume)
        case ("repeat", 1):
            _repeat(g, node.args[0], scope, value, consume)
        case ("limit", 2) if _small_count(node.args[0]):
            _limit(g, node, scope, value, consume)
        case _:
            return False
    return True


def _exists(g: Generator, node: r.CallFunction, scope: Scope, value: str, *, wanted: bool) -> str:
    """Whether some output of the generator has (any) or lacks (all) the condition."""
    source, condition = node.args

    def write(inner: str) -> None:
        def test(item: str) -> None:
            if g.counts.of(condition, scope) is ONE:
                found = g.condition(condition, scope, g.atom(item))
                with g.writer.block(f"if {found if wanted else f'not ({found})'}:"):
                    g.writer.line(f"return {wanted}")
                return

            def decide(output: str) -> None:
                found = truth(g.atom(output))
                with g.writer.block(f"if {found if wanted else f'not ({found})'}:"):
                    g.writer.line(f"return {wanted}")

            g.each(condition, scope, g.atom(item), decide, cheap=True)

        g.each(source, scope, inner, test)
        g.writer.line(f"return {not wanted}")

    return g.function(write, value)


def _is_empty(g: Generator, body: r.Node, scope: Scope, value: str) -> str:
    def write(inner: str) -> None:
        g.each(body, scope, inner, lambda output: _return(g, output, "False"), cheap=True)
        g.writer.line("return True")

    return g.function(write, value)


def _return(g: Generator, output: str, answer: str) -> None:
    """The output is computed first: it may be an error."""
    g.atom(output)
    g.writer.line(f"return {answer}")


def _first(g: Generator, body: r.Node, scope: Scope, value: str, consume: Consumer, *, cheap: bool) -> None:
    if g.counts.of(body, scope) is not MANY:
        g.each(body, scope, value, consume, cheap=cheap)
        return

    def write(inner: str) -> None:
        g.each(body, scope, inner, lambda output: g.writer.line(f"return {output}"), cheap=True)
        g.writer.line("return MISSING")

    found = g.atom(g.function(write, value))
    with g.writer.block(f"if {found} is not MISSING:"):
        consume(found)


def _recurse(g: Generator, body: r.Node, scope: Scope, value: str, consume: Consumer) -> None:
    item = g.writer.temporary()
    g.looped(f"recurse_by(b, {value}, lambda {item}: {g.generator(body, scope, item)})", consume)


def _until(g: Generator, node: r.CallFunction, scope: Scope, value: str) -> str:
    condition, step = node.args
    now = g.variable(value)
    with g.writer.block("while True:"):
        g.spend("1")
        with g.writer.block(f"if {g.condition(condition, scope, now)}:"):
            g.writer.line("break")
        g.writer.line(f"{now} = {g.value(step, scope, now)}")
    return g.variable(now)


def _while(g: Generator, node: r.CallFunction, scope: Scope, value: str, consume: Consumer) -> None:
    condition, step = node.args
    now = g.variable(value)
    with g.writer.block("while True:"):
        g.spend("1")
        with g.writer.block(f"if not ({g.condition(condition, scope, now)}):"):
            g.writer.line("break")
        consume(g.variable(now))
        g.writer.line(f"{now} = {g.value(step, scope, now)}")


def _repeat(g: Generator, body: r.Node, scope: Scope, value: str, consume: Consumer) -> None:
    with g.writer.block("while True:"):
        g.spend("1")
        g.each(body, scope, value, consume)


def _small_count(node: r.Node) -> bool:
    return isinstance(node, r.Const) and type(node.value) is int and node.value >= 0


def _limit(g: Generator, node: r.CallFunction, scope: Scope, value: str, consume: Consumer) -> None:
    count, body = node.args
    if isinstance(count, r.Const) and count.value == 0:
        return

    def write(inner: str) -> None:
        left = g.variable(g.value(count, scope, inner))

        def counted(output: str) -> None:
            g.writer.line(f"yield {output}")
            g.writer.line(f"{left} -= 1")
            g.writer.line(f"if {left} <= 0: return")

        g.each(body, scope, inner, counted, cheap=True)
        g.writer.line("return")
        g.writer.line("yield")

    g.looped(g.function(write, value), consume)


def _walk(g: Generator, body: r.Node, scope: Scope, value: str) -> str:
    """Parts first, then the whole; a function that calls itself, as deep as the data."""

    def write(inner: str) -> None:
        item = g.writer.temporary()
        again = g.writer.call_itself(item)
        result = g.variable(inner)
        with g.writer.block(f"if type({inner}) is list:"):
            _charge(g, inner, "1")
            g.writer.line(f"{result} = [{again} for {item} in {inner}]")
        key = g.writer.temporary()
        with g.writer.block(f"elif type({inner}) is dict:"):
            _charge(g, inner, "2")
            g.writer.line(f"{result} = {{{key}: {again} for {key}, {item} in sorted_items(b, {inner})}}")
        g.writer.line(f"return {g.value(body, scope, result)}")

    return g.function(write, value)


def _charge(g: Generator, container: str, cells: str) -> None:
    g.spend(f"len({container})")
    g.grow(f"{cells} * len({container}) + 4")


def modify_members(g: Generator, update: r.Node, scope: Scope, value: str) -> str:
    """`.[] |= f`: the first output of f for each member; members without one are left out."""
    items = g.atom(f"members(b, {value})")
    _charge(g, items, "2")
    made, item = g.writer.temporary(), g.writer.temporary()
    single = g.counts.of(update, scope) is ONE
    g.writer.line(f"{made} = []")
    with g.writer.block(f"for {item} in {items}:"):
        if single:
            g.writer.line(f"{made}.append({g.value(update, scope, item)})")
        else:
            _keep_first(g, update, scope, item, made)
    keys = f"keyed(b, {value}, {made})"
    if single:
        return f"({made} if type({value}) is list else {keys})"
    key, new = g.writer.temporary(), g.writer.temporary()
    in_array = f"[{new} for {new} in {made} if {new} is not MISSING]"
    in_object = f"{{{key}: {new} for {key}, {new} in {keys}.items() if {new} is not MISSING}}"
    return f"({in_array} if type({value}) is list else {in_object})"


def _keep_first(g: Generator, update: r.Node, scope: Scope, item: str, made: str) -> None:
    new = g.variable("MISSING")
    _first(g, update, scope, item, lambda output: g.writer.line(f"{new} = {output}"), cheap=False)
    g.writer.line(f"{made}.append({new})")


def modify_constant_path(g: Generator, node: r.Modify, scope: Scope, value: str) -> str | None:
    """`.a.b |= f` where f has at most one output."""
    path = _constant_path(node.target)
    count = g.counts.of(node.update, scope)
    if path is None or count > AT_MOST_ONE:
        return None
    current = g.atom(g.value(node.target, scope, value))
    constant = g.constant(path)
    if any(type(key) is int for key in path):  # a letter of a text can be read, but has no path
        current = g.atom(f"get_path(b, {value}, {constant})")
    if count is ONE:
        new = g.atom(g.value(node.update, scope, current))
        return f"set_path(b, {value}, {constant}, {new})"
    new = g.variable("MISSING")
    g.each(node.update, scope, current, lambda output: g.writer.line(f"{new} = {output}"), cheap=True)
    gone = f"delete_paths(b, {value}, [{constant}])"
    return f"({gone} if {new} is MISSING else set_path(b, {value}, {constant}, {new}))"


def _constant_path(node: r.Node) -> list[object] | None:
    keys: list[object] = []
    while isinstance(node, r.Index):
        if not isinstance(node.key, r.Const) or type(node.key.value) not in (str, int):
            return None
        keys.append(node.key.value)
        node = node.target
    return keys[::-1] if isinstance(node, r.Identity) else None
