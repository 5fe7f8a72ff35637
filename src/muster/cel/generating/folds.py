"""Comprehensions in generated code: Python loops that count the cost of every turn and stop at the limit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from muster.cel.costs.runtime import LIST, MAP, SELECT
from muster.cel.generating.support import note
from muster.cel.generating.writer import OUTERMOST, Val
from muster.cel.running import plan as p

if TYPE_CHECKING:
    from muster.cel.generating.writer import Constants, Writer
    from muster.cel.syntax.walking import Walk
    from muster.cel.values.value import Value


class FoldWriter:
    """The part of the generator that writes loops and bound variables."""

    writer: Writer
    constants: Constants
    scope: list[str]
    growing: set[int]
    steady: set[int]
    lazy: dict[int, str]
    unread: dict[int, tuple[str, int]]

    if TYPE_CHECKING:

        def node(self, node: p.Node) -> Walk[Val]: ...
        def named(self, value: Val) -> str: ...
        def deferred(self, slot: int, node: p.Node) -> Walk[None]: ...
        def constant(self, value: Value) -> Val: ...
        def slow_equality(self, node: p.Equality, left: str, right: str, target: str) -> None: ...
        def charge_comparison(
            self, kind: str, left: p.Node, right: p.Node, left_name: str, right_name: str
        ) -> None: ...

    def fold(self, node: p.Fold) -> Walk[Val]:
        if _is_bind(node):
            return (yield from self._bind(node))
        writer = self.writer
        new_meter, writer.new_meter = writer.new_meter, ""
        if new_meter:  # not again and again in the loop
            if writer.indent > OUTERMOST:
                writer.line(f"w = w or {new_meter}")
            else:
                writer.begins_with_meter = True
        over = self.named((yield self.node(node.range)))
        iterator = writer.temporary()
        if node.second is None:
            writer.line(f"{iterator} = iter({over}) if {over}.__class__ is list else iterate({over})")
        else:
            writer.line(f"{iterator} = iter(enumerate({over})) if {over}.__class__ is list else iterate_pairs({over})")
        writer.flush()
        # Where the accumulator is the result, it is so under its own name.
        target = f"s{node.accumulator}" if _reads(node.result, node.accumulator) else writer.temporary()
        writer.line(f"if {iterator}.__class__ is E: {target} = {iterator}")
        with writer.block("else:"):
            quantifier = _quantifier(node)
            if quantifier is not None:
                yield self._quantified(node, quantifier, iterator)
            else:
                yield self._general_fold(node, iterator, target)
        writer.joined()
        writer.new_meter = new_meter
        return Val(target)

    def _enter(self, node: p.Fold) -> None:
        variables = [node.first] if node.second is None else [node.first, node.second]
        self.scope += [f"s{slot}" for slot in (node.accumulator, *variables)]
        self.steady.update(variables)

    def _leave_turn(self, node: p.Fold) -> None:
        """Behind the loop there is the accumulator and no element, as there may have been none."""
        del self.scope[-1 if node.second is None else -2 :]

    def _loop_head(self, node: p.Fold, iterator: str) -> str:
        names = f"s{node.first}" if node.second is None else f"s{node.first}, s{node.second}"
        return f"for {names} in {iterator}:"

    def _quantified(self, node: p.Fold, quantifier: tuple[p.Node, bool, int], iterator: str) -> Walk[None]:
        """all() and exists(): the loop ends on the deciding element, and an error counts only if none decides."""
        predicate, decisive, condition_cost = quantifier
        writer = self.writer
        accumulator = f"s{node.accumulator}"
        writer.line(f"{accumulator} = {not decisive}")
        self._enter(node)
        with writer.block(self._loop_head(node, iterator)):
            writer.loops += 1
            writer.line("if c > limit: raise Limit")
            writer.charge(condition_cost + SELECT)
            value = yield self._predicate(predicate, decisive)
            name = self.named(value)
            writer.flush()
            # Most elements decide nothing, so that is what is looked at first.
            noted = self.constants.add(partial(note, decisive, condition_cost))
            writer.line(f"if {name} is not {not decisive}:")
            writer.line(f" {accumulator}, c = {noted}(c, {accumulator}, {name}, {iterator})")
            writer.line(f" if {accumulator} is {decisive}: break")
            writer.loops -= 1
        writer.pending = 0
        self._leave_turn(node)
        self.scope.pop()
        writer.charge(SELECT)

    def _predicate(self, predicate: p.Node, decisive: bool) -> Walk[Val]:
        """The predicate of a loop. `a && b` under exists() goes on to the next element as soon as `a` is false."""
        writer = self.writer
        if not isinstance(predicate, p.Logic) or predicate.decisive is decisive or len(predicate.terms) != 2:
            value: Val = yield self.node(predicate)
            return value
        left, right = predicate.terms
        first: Val = yield self._unless_skipped(left, decisive)
        second: Val = yield self.node(right)
        if first.kind == "bool" and not first.fails:
            return second
        name = self.named(second)
        target = writer.temporary()
        writer.line(
            f"{target} = {name} if {first.code} is {decisive} or {name} is {not decisive} else bool_error({first.code})"
        )
        return Val(target)

    def _unless_skipped(self, node: p.Node, decisive: bool) -> Walk[Val]:
        """The first of two conjuncts under a name; an element that it rules out is done with.

        One of the form `e.field == "text"` is what most elements fail, so that has code of its own.
        """
        writer = self.writer
        text = _compared_text(node) if isinstance(node, p.Equality) and node.negated is not decisive else None
        if text is None or not isinstance(node, p.Equality):
            value: Val = yield self.node(node)
            name = self.named(value)
            writer.flush()
            writer.line(f"if {name} is {not decisive}: continue")
            return Val(name, value.kind, value.fails)
        operand: Val = yield self.node(node.left)
        name, constant = self.named(operand), self.constant(text)
        target = writer.temporary()
        with writer.block(f"if {name}.__class__ is str:"):
            self.charge_comparison("str", node.left, node.right, name, constant.code)
            writer.flush()
            writer.line(f"if {name} != {constant.code}: continue")
            writer.line(f"{target} = {decisive}")
        with writer.block("else:"):
            self.slow_equality(node, name, constant.code, target)
            writer.line(f"if {target} is {not decisive}: continue")
        writer.joined()
        return Val(target, "bool")

    def _general_fold(self, node: p.Fold, iterator: str, target: str) -> Walk[None]:
        writer = self.writer
        accumulator = f"s{node.accumulator}"
        if node.grows:
            self.growing.add(node.accumulator)
            yield self._growing_start(node, accumulator)
        else:
            init = yield self.node(node.init)
            writer.line(f"{accumulator} = {init.code}")
        self._enter(node)
        writer.flush()
        with writer.block(self._loop_head(node, iterator)):
            writer.loops += 1
            writer.line("if c > limit: raise Limit")
            condition = yield self.node(node.condition)
            if condition.code != "True":
                writer.flush()
                writer.line(f"if {condition.code} is False: break")
            yield self._accumulated(node.step, accumulator)
            writer.flush()
            writer.loops -= 1
        writer.pending = 0
        self._leave_turn(node)
        result = yield self.node(node.result)
        if result.code != target:
            writer.line(f"{target} = {result.code}")
        self.scope.pop()

    def _accumulated(self, step: p.Node, accumulator: str) -> Walk[None]:
        """The next value of the accumulator. A choice that leaves it as it is, as filter() does, assigns nothing."""
        writer = self.writer
        match step:
            case p.Attribute(root=p.Choice(condition=asked, truthy=truthy, falsy=falsy), qualifiers=()):
                condition = self.named((yield self.node(asked)))
                for head, branch in ((f"if {condition} is True:", truthy), (f"elif {condition} is False:", falsy)):
                    with writer.block(head):
                        yield self._assigned(branch, accumulator)
                otherwise = f"elif {condition} is not False:" if writer.drop_empty_block() else "else:"
                with writer.block(otherwise):
                    writer.line(f"{accumulator} = bool_error({condition})")
                writer.joined()
                writer.charge(step.charge)
            case _:
                yield self._assigned(step, accumulator)

    def _assigned(self, node: p.Node, accumulator: str) -> Walk[None]:
        value: Val = yield self.node(node)
        if value.code != accumulator:
            self.writer.line(f"{accumulator} = {value.code}")

    def _growing_start(self, node: p.Fold, accumulator: str) -> Walk[None]:
        """The empty list or map. It costs something only when it is read: a filter that fails at once never does."""
        empty = "{}" if _makes_map(node.init) else "[]"
        if isinstance(node.init, p.Const) or _surely_reads(node.step, node.accumulator):
            yield self.node(node.init)  # for its cost
            self.writer.line(f"{accumulator} = {empty}")
        else:
            self.unread[node.accumulator] = empty, MAP if _makes_map(node.init) else LIST
            self.writer.line(f"{accumulator} = UNSET")

    def _bind(self, node: p.Fold) -> Walk[Val]:
        """`cel.bind`: the value is computed when it is first read; at once where it is certain to be read."""
        if isinstance(node.range, p.MakeList):
            self.writer.charge(LIST)
        name = f"s{node.accumulator}"
        if _surely_reads(node.result, node.accumulator):
            value = yield self.node(node.init)
            self.writer.line(f"{name} = {value.code}")
            self.scope.append(name)
            if not value.fails:
                self.steady.add(node.accumulator)
        else:
            yield self.deferred(node.accumulator, node.init)
        result = self.named((yield self.node(node.result)))
        self.scope.pop()
        return Val(result)


def _compared_text(node: p.Equality) -> str | None:
    """The constant text on the right of a comparison."""
    match node.right:
        case p.Const(value=str(text)) if not isinstance(node.left, p.Const):
            return text
        case _:
            return None


def _is_bind(node: p.Fold) -> bool:
    match node:
        case p.Fold(range=p.MakeList(elements=()) | p.Const(value=[]), condition=p.Const(value=False)):
            return True
        case _:
            return False


def _quantifier(node: p.Fold) -> tuple[p.Node, bool, int] | None:
    """The predicate, the value that decides, and what looking at the condition costs, for all() and exists()."""
    if not _reads(node.result, node.accumulator):
        return None
    match node:
        case p.Fold(
            init=p.Const(value=bool(start)),
            condition=p.NotFalse(cost=not_false, arg=tested),
            step=p.Logic(terms=(accumulated, predicate), decisive=decisive),
        ) if _reads(accumulated, node.accumulator) and start is not decisive:
            match decisive, tested:
                case True, p.Invoke(args=(inner,), cost=price) if (
                    tested.invocation.function == "!_" and _reads(inner, node.accumulator) and price.fixed is not None
                ):
                    return predicate, decisive, SELECT + price.fixed + not_false
                case False, _ if _reads(tested, node.accumulator):
                    return predicate, decisive, SELECT + not_false
                case _:
                    return None
        case _:
            return None


def _reads(node: p.Node, slot: int) -> bool:
    """Whether the node is the plain variable in the slot."""
    match node:
        case p.Attribute(root=p.Local(slot=found), qualifiers=(), charge=1):
            return found == slot
        case _:
            return False


def _surely_reads(node: p.Node, slot: int) -> bool:
    """Whether evaluating the node reads the slot whatever happens. False is always a safe answer."""
    match node:
        case p.Attribute(root=p.Local(slot=found)):
            return found == slot
        case p.Attribute(root=p.Operand(node=operand)):
            return _surely_reads(operand, slot)
        case p.Attribute(root=p.Choice(condition=condition)):
            return _surely_reads(condition, slot)
        case p.Logic(terms=(first, *_)):
            return _surely_reads(first, slot)
        case p.Equality(left=left, right=right):
            return _surely_reads(left, slot) or _surely_reads(right, slot)
        case p.Invoke(args=args, invocation=invocation):
            considered = args[:1] if invocation.until_error else args
            return any(_surely_reads(arg, slot) for arg in considered)
        case p.NotFalse(arg=arg) | p.Membership(arg=arg):
            return _surely_reads(arg, slot)
        case p.OptionalElse(left=left):
            return _surely_reads(left, slot)
        case p.MakeList(elements=(first, *_)):
            return _surely_reads(first, slot)
        case p.Fold(range=over) if not _is_bind(node):
            return _surely_reads(over, slot)
        case _:
            return False


def _makes_map(node: p.Node) -> bool:
    return (isinstance(node, p.MakeMap) and node.message is None) or (
        isinstance(node, p.Const) and isinstance(node.value, dict)
    )
