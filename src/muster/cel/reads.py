"""What a program can see of its variables, as paths, and the projection of inputs onto them.

A path is a tuple, hence hashable. Its first step is the name of a variable; the others are

    "field" or 7      a field, a map key or a list index, named by a constant
    Where("name", K)  of a list, only the elements whose field `name` is K (and those that have no such field,
                      since looking at them is an error); always the last step
    PRESENT           only whether the step before it is there; always the last step

    managedCluster.metadata.labels["env"] == "prod"      ("managedCluster", "metadata", "labels", "env")
    has(managedCluster.spec.taints)                      ("managedCluster", "spec", "taints", PRESENT)
    managedCluster.status.clusterClaims.exists(c, c.name == "id" && c.value != "")
                                             ("managedCluster", "status", "clusterClaims", Where("name", "id"))
    managedCluster.scores("cpu")                         ("managedCluster", "@scores", "cpu")  and whether it has a name
    size(managedCluster)                                 ("managedCluster",): the whole variable

A path stands for everything below it. `project(path, variables)` gives what is there as a hashable key; two inputs with
the same keys for all paths of a program give the same value or the same error. The cost may differ by the elements
that `Where` leaves out. Functions say what they read through `Overload.reads`; without it, all of their arguments.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from muster.cel.running import plan as p
from muster.cel.running.dispatch import list_index
from muster.cel.syntax.walking import Walk, run
from muster.cel.values import MISSING, equal_plain, find, type_of
from muster.cel.values.value import Value
from muster.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Where(NamedTuple):
    """The elements of a list whose field has a value."""

    field: str
    value: Hashable


class _Present:
    """The step that only asks whether the one before it is there."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "PRESENT"


PRESENT = _Present()
ReadPath: TypeAlias = tuple[Value, ...]
Aliases: TypeAlias = frozenset[ReadPath]

_COMPUTED: Aliases = frozenset()


class Absent(NamedTuple):
    """The projection of a path that leads nowhere: at which step, and in what kind of value."""

    step: int
    inside: str


def reads_of(plan: p.Plan) -> frozenset[ReadPath]:
    """The paths that the plan can look at, without those that another one covers."""
    reader = _Reader()
    reader.use(run(reader.node(plan.node)))
    return _shortest(reader.paths)


def _shortest(paths: Iterable[ReadPath]) -> frozenset[ReadPath]:
    every = set(paths)
    kept: set[ReadPath] = set()
    for path in every:
        if any(path[:length] in every for length in range(1, len(path))):
            continue
        if path[-1] is PRESENT and any(other[: len(path) - 1] == path[:-1] and other != path for other in every):
            continue  # whoever reads something there, or below, also learns whether it is there
        kept.add(path)
    return frozenset(kept)


class _Reader:
    """A walk over the plan. The result for a node is the set of paths whose very value it may be."""

    def __init__(self) -> None:
        self.paths: set[ReadPath] = set()
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
                self.use(frozenset((*path, step.key, PRESENT) for path in aliases))
                aliases = _COMPUTED
            else:
                aliases = frozenset((*path, _key(step.key)) for path in aliases)
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
            self.use(frozenset((*path, *(PRESENT if step == "?" else step for step in below)) for path in values[0]))
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
        where = _where(node)
        self.use(frozenset((*path, where) for path in over) if where is not None else over)
        self.slots[node.first] = _COMPUTED
        if node.second is not None:
            self.slots[node.second] = _COMPUTED
        for part in (node.condition, node.step):
            self.use((yield self.node(part)))
        result: Aliases = yield self.node(node.result)
        return result


def _key(key: Value) -> Value:
    """1 and true are different steps, though equal in Python."""
    return ("bool", key) if isinstance(key, bool) else key


def _where(node: p.Fold) -> Where | None:
    """The condition on elements that decides alone, if there is one: elements it refuses leave no trace."""
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


def _required(predicate: p.Node, slot: int, positive: bool) -> Where | None:
    """`e.field == K` as a conjunct, or `e.field != K` as an alternative when the predicate is to be false."""
    match predicate:
        case p.Equality(negated=negated, left=left, right=right) if negated is not positive:
            for side, other in ((left, right), (right, left)):
                field = _field_of(side, slot)
                if field is not None and isinstance(other, p.Const) and isinstance(other.value, str):
                    return Where(field, other.value)
            return None
        case p.Logic(terms=terms, decisive=decisive) if decisive is not positive:
            return next((found for term in terms if (found := _required(term, slot, positive)) is not None), None)
        case p.Invoke(args=(inner,)) if predicate.invocation.function == "!_":
            return _required(inner, slot, not positive)
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


# --- projections


def project(path: ReadPath, variables: Mapping[str, Value]) -> Hashable:
    """What a program that reads the path can see there, as a key that is equal only for what it cannot tell apart."""
    value: Value = variables
    last = len(path) - 1
    for index, step in enumerate(path):
        if isinstance(step, _Present):
            return step
        if isinstance(step, Where):
            return _matching(value, step, index)
        key = step[1] if isinstance(step, tuple) else step
        found: Value
        if isinstance(value, Mapping):
            found = find(value, key)
        else:
            found = _element(value, key) if isinstance(value, (list, tuple)) else MISSING
        if found is MISSING:
            return Absent(index, "variables" if index == 0 else type_of(value).name)
        value = found
        if index == last:
            break
    return freeze(value)


def _element(items: Sequence[Value], key: Value) -> Value:
    """Numbers of any type name a place: `[0.0]` and `[0u]` are `[0]`."""
    try:
        index = list_index(key)
    except EvaluationError:
        return MISSING
    return items[index] if 0 <= index < len(items) else MISSING


def _matching(value: Value, where: Where, index: int) -> Hashable:
    if isinstance(value, Mapping):
        return freeze(value)
    if not isinstance(value, (list, tuple)):
        return Absent(index, type_of(value).name)
    return ("list", *(freeze(element) for element in value if _may_matter(element, where)))


def _may_matter(element: Value, where: Where) -> bool:
    if not isinstance(element, Mapping):
        return True
    found = find(element, where.field)
    return found is MISSING or equal_plain(where.value, found)


def freeze(value: Value, depth: int = 0) -> Hashable:
    """The value as a hashable key that keeps types and order: 1, 1.0 and true differ, and so do [1, 2] and [2, 1]."""
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, Mapping)):
        if depth >= _DEEPEST:
            return ("deep", _written(value))
        below = depth + 1
        return ("map", *((freeze(key), freeze(element, below)) for key, element in value.items()))
    if isinstance(value, (list, tuple)):
        if depth >= _DEEPEST:
            return ("deep", _written(value))
        below = depth + 1
        return ("list", *(freeze(element, below) for element in value))
    return (type(value).__name__, repr(value))


_DEEPEST = 64  # below that a key is a text: Python hashes nested tuples by recursion


def _written(value: Value) -> str:
    """The value as text that no other value has, however deep it is."""
    parts: list[str] = []
    pending: list[tuple[bool, Value]] = [(False, value)]
    while pending:
        is_text, item = pending.pop()
        if is_text:
            parts.append(item)
        elif isinstance(item, (dict, Mapping)):
            pending.append((True, "}"))
            for key, element in reversed(list(item.items())):
                pending.extend(((True, ","), (False, element), (True, ":"), (False, key)))
            parts.append("{")
        elif isinstance(item, (list, tuple)):
            pending.append((True, "]"))
            for element in reversed(item):
                pending.extend(((True, ","), (False, element)))
            parts.append("[")
        else:
            parts.append(repr(item) if isinstance(item, str) else f"{type(item).__name__} {item!r}")
    return "".join(parts)


def show_path(path: ReadPath) -> str:
    """The path as users write it: `managedCluster.status.clusterClaims[name="id"]`, with `?` for presence only."""
    shown = str(path[0])
    for step in path[1:]:
        if step is PRESENT:
            shown += "?"
        elif isinstance(step, Where):
            shown += f'[{step.field}="{step.value}"]'
        elif isinstance(step, str) and step.replace("@", "_").isidentifier():
            shown += f".{step}"
        elif isinstance(step, tuple):
            shown += f"[{str(step[1]).lower()}]"
        else:
            shown += f'["{step}"]' if isinstance(step, str) else f"[{step}]"
    return shown
