"""What a program can see of its variables, as paths (values/paths.py), and what its cost depends on beside them.

The first step of a path is the name of a variable.

    managedCluster.metadata.labels["env"] == "prod"      ("managedCluster", "metadata", "labels", "env")
    has(managedCluster.spec.taints)                      ("managedCluster", "spec", "taints", PRESENT)
    managedCluster.status.clusterClaims.exists(c, c.name == "id" && c.value != "")
                                             ("managedCluster", "status", "clusterClaims", Where("name", "id"))
    managedCluster.scores("cpu")                         ("managedCluster", "@scores", "cpu")  and whether it has a name
    size(managedCluster)                                 ("managedCluster",): the whole variable

Two inputs with the same projections on all paths of a program give the same value or the same error. What it costs can
differ by the elements that a `Where` leaves out, and by nothing else. Where a loop asks for that field first it passes
them by for a few units each; where it asks something else before, that is known only of light loops. `Reads.costs`
names their lists, with SIZE; `Reads.elements_within` says how many there may be. Functions say what they read through
`Overload.reads`; without it, all of their arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from muster.cel.costs.ranges import MAX
from muster.cel.costs.runtime import traversal
from muster.cel.light_loops import MOST_ELEMENTS, is_light, most_cost
from muster.cel.running import plan as p
from muster.cel.syntax.walking import Walk, run
from muster.cel.values import MISSING
from muster.errors import InvalidObjectError
from muster.values.arguments import expected
from muster.values.paths import PRESENT, SIZE, Aspect, Key, Path, Step, Where, shortest

if TYPE_CHECKING:
    from muster.cel.values.value import Value

Aliases: TypeAlias = frozenset[Path]

_COMPUTED: Aliases = frozenset()
_TURN = 8  # what a turn of a loop costs at most that asks an element for one field and goes on


@dataclass(frozen=True, slots=True)
class Reads:
    """The paths that decide, the sizes that only cost depends on, and how much.

    An element that is left out costs at most `once` where its list is gone through once, and `again` each time that a
    loop is gone through inside of another one. How often that is, only what is read decides. Beyond `most` elements it
    may cost anything.
    """

    paths: frozenset[Path]
    costs: frozenset[Path]
    once: int = 0
    again: int = 0
    most: int = MAX

    def per_element(self, cost: int) -> int:
        """What another element that is left out can add to an evaluation that cost so much."""
        return self.once + self.again * (cost + 1)  # each time that a loop begins costs something

    def elements_within(self, cost: int, limit: int) -> int:
        """How many elements may be left out in an input that looks the same, before the limit may be exceeded."""
        added = self.per_element(cost)
        return min(max(limit - cost, 0) // added, self.most) if added else self.most


def reads_of(plan: p.Plan) -> Reads:
    """What the plan can look at, without paths that another one covers."""
    reader = _Reader()
    reader.use(run(reader.node(plan.node)))
    most = MAX if reader.asked_first else MOST_ELEMENTS if reader.known and is_light(plan.node) else 0
    return Reads(shortest(reader.paths), frozenset(reader.sizes), reader.once, reader.again, most)


class _Reader:
    """A walk over the plan. The result for a node is the set of paths whose very value it may be."""

    def __init__(self) -> None:
        self.paths: set[Path] = set()
        self.sizes: set[Path] = set()
        self.once = 0
        self.again = 0
        self.asked_first = True  # whatever decides on elements alone
        self.known = True  # what is asked before
        self.loops = 0  # that are around the node
        self.slots: dict[int, Aliases] = {}

    def use(self, value: Aliases) -> None:
        """The value is looked at, not only walked through."""
        self.paths |= value

    def node(self, node: p.Node) -> Walk[Aliases]:
        match node:
            case p.Const():
                return _COMPUTED
            case p.Attribute():
                return (yield from self._attribute(node))
            case p.Invoke():
                yield self._invoke(node)
            case p.Fold():
                return (yield from self._fold(node))
            case p.Block():
                for slot, part in node.slots:
                    self.slots[slot] = yield self.node(part)
                result: Aliases = yield self.node(node.result)
                return result
            case _:
                yield self._use_parts(node)
        return _COMPUTED

    def _use_parts(self, node: p.Node) -> Walk[None]:
        for part in p.children(node):
            self.use((yield self.node(part)))  # type: ignore[arg-type]  # these nodes have only nodes below them

    # --- attributes

    def _attribute(self, node: p.Attribute) -> Walk[Aliases]:
        aliases: Aliases = yield self._root(node.root)
        for step in node.qualifiers:
            if step.dynamic is not None:
                self.use((yield self.node(step.dynamic)))
                self.use(aliases)  # any of its entries
                aliases = _COMPUTED
            elif step.presence:
                self.use(frozenset((*path, _step(step.key), PRESENT) for path in aliases))
                aliases = _COMPUTED
            else:
                aliases = frozenset((*path, _step(step.key)) for path in aliases)
        return aliases

    def _root(self, root: p.Root) -> Walk[Aliases]:
        match root:
            case p.Variable():
                names = [name for alternative in root.alternatives for name in alternative.names]
                if len(names) == 1:
                    return frozenset({(names[0],)})
                # An unchecked name: whichever of them is a variable, all of it.
                self.use(frozenset((name,) for name in names))
                return _COMPUTED
            case p.Local():
                return self.slots.get(root.slot, _COMPUTED)
            case p.Operand():
                operand: Aliases = yield self.node(root.node)
                return operand
            case p.Choice():
                self.use((yield self.node(root.condition)))
                truthy: Aliases = yield self.node(root.truthy)
                falsy: Aliases = yield self.node(root.falsy)
                return truthy | falsy

    # --- calls

    def _invoke(self, node: p.Invoke) -> Walk[None]:
        declared = [overload.reads for overload in node.invocation.overloads if overload.reads is not None]
        values: list[Aliases] = []
        for arg in node.args:
            value: Aliases = yield self.node(arg)
            values += [value]
        if not declared or not values:
            for used in values:
                self.use(used)
            return
        constants = tuple(arg.value if isinstance(arg, p.Const) else MISSING for arg in node.args)
        for below in declared[0](constants):
            self.use(frozenset((*path, *below) for path in values[0]))
        for used in values[1:]:
            self.use(used)

    # --- comprehensions

    def _fold(self, node: p.Fold) -> Walk[Aliases]:
        over = yield self.node(node.range)
        init = yield self.node(node.init)
        self.slots[node.accumulator] = init  # a bound variable is the very value
        if isinstance(node.condition, p.Const) and node.condition.value is False:
            bound: Aliases = yield self.node(node.result)
            return bound
        self.use(init)
        self.slots[node.accumulator] = _COMPUTED
        asked = _asked(node)
        if asked is None:
            self.use(over)
        else:
            self._leave_out(over, asked)
        self.slots[node.first] = _COMPUTED
        if node.second is not None:
            self.slots[node.second] = _COMPUTED
        self.loops += 1
        for part in (node.condition, node.step):
            self.use((yield self.node(part)))
        self.loops -= 1
        result: Aliases = yield self.node(node.result)
        return result

    def _leave_out(self, lists: Aliases, asked: _Asked) -> None:
        """The loop looks at some elements and passes the others by."""
        self.use(frozenset((*path, asked.where) for path in lists))
        if lists:
            self.sizes |= {(*path, SIZE) for path in lists}
            before = tuple(map(most_cost, asked.before))
            self.asked_first &= not before
            self.known &= None not in before
            cost = _TURN + asked.negations + traversal(len(asked.where.value)) + sum(each or 0 for each in before)
            if self.loops:
                self.again += cost
            else:
                self.once += cost


def _step(key: Value) -> Step:
    """A constant key as a step: 1, 1.0 and true are different ones, though equal in Python."""
    if isinstance(key, bool | float):
        return Key(type(key).__name__, key)
    step: Step = key
    return step


class _Asked(NamedTuple):
    """A question that an element must answer with yes to matter."""

    where: Where
    negations: int = 0  # around it
    before: tuple[p.Node, ...] = ()  # what else is asked first


def _asked(node: p.Fold) -> _Asked | None:
    """The condition on elements that decides alone, if there is one: what it refuses leaves no trace but its cost."""
    if node.second is not None:
        return None
    match node.step:
        case p.Logic(terms=(_, predicate), decisive=decisive):
            return _required(predicate, node.first, decisive)
        case p.Attribute(root=p.Choice(condition=condition, falsy=falsy), qualifiers=()) if _is_slot(
            falsy, node.accumulator
        ):
            return _required(condition, node.first, positive=True)
        case _:
            return None


def _required(predicate: p.Node, slot: int, positive: bool) -> _Asked | None:
    """`e.field == K` as a conjunct, or `e.field != K` as an alternative when the predicate is to be false."""
    match predicate:
        case p.Equality(negated=negated, left=left, right=right) if negated is not positive:
            for side, other in ((left, right), (right, left)):
                field = _field_of(side, slot)
                if field is not None and isinstance(other, p.Const) and isinstance(other.value, str):
                    return _Asked(Where(field, other.value))
            return None
        case p.Logic(terms=terms, decisive=decisive) if decisive is not positive:
            for position, term in enumerate(terms):
                asked = _required(term, slot, positive)
                if asked is not None:
                    return asked._replace(before=(*terms[:position], *asked.before))
            return None
        case p.Invoke(args=(inner,)) if predicate.invocation.function == "!_":
            asked = _required(inner, slot, not positive)
            return None if asked is None else asked._replace(negations=asked.negations + 1)
        case _:
            return None


def _field_of(node: p.Node, slot: int) -> str | None:
    match node:
        case p.Attribute(
            root=p.Local(slot=found),
            qualifiers=(p.Qualifier(key=str(key), dynamic=None, optional=False, presence=False),),
        ) if found == slot:
            return key
        case _:
            return None


def _is_slot(node: p.Node, slot: int) -> bool:
    match node:
        case p.Attribute(root=p.Local(slot=found), qualifiers=()):
            return found == slot
        case _:
            return False


def show_path(path: Path) -> str:
    """The path as users write it: `managedCluster.status.clusterClaims[name="id"]`, with `?` for presence only."""
    if not expected(path, tuple, "path", "a path: one of a program's reads"):
        raise InvalidObjectError("path", "a path has at least the name of a variable")
    shown = str(path[0])
    for step in path[1:]:
        match step:
            case Aspect.PRESENT:
                shown += "?"
            case Aspect():
                shown += f" ({step.value})"
            case Where(field, value):
                shown += f'[{field}="{value}"]'
            case str() if step.replace("@", "_").isidentifier():
                shown += f".{step}"
            case str():
                shown += f'["{step}"]'
            case Key(_, value):
                shown += f"[{str(value).lower()}]"
            case _:
                shown += f"[{step}]"
    return shown
