"""Which parts of its input a query can look at, as paths (values/paths.py). Whoever keeps results asks here what may
change without harm.

    .cpu.count == 2                                         ("cpu", "count")
    has("gpus")                                             ("gpus",)
    .cpu.count | 1                                          ("cpu", OBJECT)
    any(.disks[]; .size > 10)                               ("disks",)
    .interfaces[] | select(.name == "eth0") | .speed        ("interfaces", Where("name", "eth0"))
    keys                                                    ()

The walk follows values through variables, functions and pipes; what it cannot follow counts as read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from muster.jq.resolving import resolved as r
from muster.values.paths import ARRAY, OBJECT, WHOLE, Path, Where, shortest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muster.jq.values.value import Value
    from muster.values.paths import Step


Places: TypeAlias = frozenset[Path]
"""Where in the input a value may lie; empty for a value that was made."""

_MADE: Places = frozenset()
_MAX_CALLS = 40
_MAX_NODES = 10_000
_MAX_PATHS = 256
_MAX_PATH = 64
"""Functions are followed into their bodies, and a few commas and pipes mean any number of paths: `(.a, .b) | (.c, .d)`
are four. Beyond these the whole input counts as read."""

_IGNORE_INPUT = frozenset(
    (
        "_add",
        "_subtract",
        "_multiply",
        "_divide",
        "_modulo",
        "_equal",
        "_notequal",
        "_less",
        "_lesseq",
        "_greater",
        "_greatereq",
        "_alternative",
        "now",
        "nan",
        "infinite",
        "halt",
        "_append_text",
    )
)
"""Natives that look at their arguments alone."""


@dataclass(frozen=True, slots=True)
class _Argument:
    node: r.Node
    env: Mapping[int, Value]


def reads_of(body: r.Node) -> frozenset[Path]:
    """The paths that the query can look at, without those that another one covers."""
    reader = _Reader()
    try:
        reader.use(reader.walk(body, {}, frozenset((WHOLE,))))
    except (RecursionError, _TooManyPathsError):
        return frozenset((WHOLE,))
    return shortest(reader.paths)


class _TooManyPathsError(Exception):
    """The query is too large, or branches too often, to be followed."""


class _Reader:
    def __init__(self) -> None:
        self.paths: set[Path] = set()
        self.calls = 0
        self.left = _MAX_NODES

    def use(self, places: Places) -> None:
        self.paths |= places
        if len(self.paths) > _MAX_PATHS:
            raise _TooManyPathsError

    def inside(self, places: Iterable[Path], step: Step) -> Places:
        """One step further from every place."""
        found = frozenset((*path, step) for path in places)
        if len(found) > _MAX_PATHS or any(len(path) > _MAX_PATH for path in found):
            raise _TooManyPathsError
        return found

    def walk(self, node: r.Node, env: Mapping[int, Value], at: Places) -> Places:
        """What the node's outputs may be; reads what it looks at on the way."""
        self.left -= 1
        if self.left < 0:
            raise _TooManyPathsError
        match node:
            case r.Identity():
                return at
            case r.Const() | r.Empty() | r.Break():
                return _MADE
            case r.Variable(slot=slot):
                found: Places = env.get(slot, _MADE)
                return found
            case r.Index(target=target, key=key):
                places = self.walk(target, env, at)
                return self.step(places, key, env, at)
            case r.Pipe(parts=parts):
                return self.pipe(parts, env, at)
            case r.Comma(parts=parts):
                return _MADE.union(*(self.walk(part, env, at) for part in parts))
            case r.Alternative(left=left, right=right):
                kept = self.walk(left, env, at)
                self.use(kept)
                return kept | self.walk(right, env, at)
            case r.If(condition=condition, then=then, otherwise=otherwise):
                self.use(self.walk(condition, env, at))
                return self.walk(then, env, at) | self.walk(otherwise, env, at)
            case r.Try(body=body, handler=handler):
                # Whether the body fails can depend on all that it went through.
                outputs = self.walk(body, env, at)
                return outputs if handler is None else outputs | self.walk(handler, env, _MADE)
            case r.Bind():
                return self.bind(node, env, at)
            case r.Label(body=body):
                return self.walk(body, env, at)
            case r.Native(name="has", args=(r.Const(value=str() as name),)):
                self.use(self.inside(at, name))
                return _MADE
            case r.Native(name=name, args=args):
                for argument in args:
                    self.use(self.walk(argument, env, at))
                if name not in _IGNORE_INPUT and not (name == "error" and args):
                    self.use(at)
                return _MADE
            case r.CallFunction():
                return self.call(node, env, at)
            case r.CallParameter(slot=slot):
                argument = env[slot]
                return self.walk(argument.node, argument.env, at)
            case r.MakeArray(body=body) | r.Last(body=body):
                self.use(self.walk(body, env, at))
                return _MADE
            case r.MakeObject(entries=entries):
                for key, value in entries:
                    self.use(self.walk(key, env, at))
                    if value is None:
                        self.use(self.step(at, key, env, at))
                    else:
                        self.use(self.walk(value, env, at))
                return _MADE
            case r.Logic(parts=parts):
                for part in parts:
                    self.use(self.walk(part, env, at))
                return _MADE
            case r.Iterate(target=target):
                self.use(self.walk(target, env, at))
                return _MADE
            case r.Range() | r.Slice():
                for child in r.children(node):
                    self.use(self.walk(child, env, at))
                return _MADE
            case r.Reduce() | r.Foreach():
                return self.fold(node, env, at)
            case _:
                return self.everything(node, env, at)

    def step(self, places: Places, key: r.Node, env: Mapping[int, Value], at: Places) -> Places:
        """One step inside, when the key is a constant that says where."""
        if isinstance(key, r.Const) and (type(key.value) is str or (type(key.value) is int and key.value >= 0)):
            kind = OBJECT if type(key.value) is str else ARRAY
            self.use(self.inside(places, kind))
            return self.inside(places, key.value)
        self.use(self.walk(key, env, at))
        self.use(places)
        return _MADE

    def pipe(self, parts: tuple[r.Node, ...], env: Mapping[int, Value], at: Places) -> Places:
        position = 0
        while position < len(parts):
            part = parts[position]
            following = parts[position + 1] if position + 1 < len(parts) else None
            if isinstance(part, r.Iterate) and isinstance(following, r.CallFunction):
                chosen = self.chosen(following, env)
                if chosen is not None:
                    self.use(self.inside(self.walk(part.target, env, at), chosen))
                    self.walk(following, env, _MADE)
                    at, position = _MADE, position + 2
                    continue
            at = self.walk(part, env, at)
            position += 1
        return at

    def chosen(self, node: r.CallFunction, env: Mapping[int, Value]) -> Where | None:
        """`select(.field == "text" …)`: the first thing asked of every member."""
        function = node.function
        if not function.builtin or (function.name, function.arity) != ("select", 1):
            return None
        return self.asked(node.args[0], env)

    def asked(self, node: r.Node, env: Mapping[int, Value]) -> Where | None:
        while isinstance(node, r.CallParameter):
            argument = env[node.slot]
            node, env = argument.node, argument.env
        while isinstance(node, r.Logic) and node.conjunction:
            node = node.parts[0]
        match node:
            case r.Native(
                name="_equal",
                args=(r.Index(target=r.Identity(), key=r.Const(value=str() as name)), r.Const(value=str() as wanted)),
            ):
                return Where(name, wanted)
            case _:
                return None

    def bind(self, node: r.Bind, env: Mapping[int, Value], at: Places) -> Places:
        places = self.walk(node.source, env, at)
        bound = {**env, **dict.fromkeys(node.slots, _MADE)}
        if len(node.patterns) == 1:
            self.pattern(node.patterns[0], places, bound)
        else:
            self.use(places)
            for pattern in node.patterns:
                self.pattern(pattern, _MADE, bound)
        return self.walk(node.body, bound, at)

    def pattern(self, pattern: r.Pattern, places: Places, bound: dict[int, Value]) -> None:
        match pattern:
            case r.SlotPattern(slot=slot):
                bound[slot] = places
            case r.ItemsPattern(items=items):
                self.use(self.inside(places, ARRAY))
                for position, item in enumerate(items):
                    self.pattern(item, self.inside(places, position), bound)
            case r.FieldsPattern(entries=entries):
                for key, named, inner in entries:
                    found = self.step(places, key, bound, places)
                    if named is not None:
                        bound[named] = found
                    if inner is not None:
                        self.pattern(inner, found, bound)

    def call(self, node: r.CallFunction, env: Mapping[int, Value], at: Places) -> Places:
        function = node.function
        if function.builtin and (function.name, function.arity) in (("any", 2), ("all", 2)):
            source, condition = node.args
            source_env: Mapping[int, Value] = env
            while isinstance(source, r.CallParameter):
                argument = source_env[source.slot]
                source, source_env = argument.node, argument.env
            asked = self.asked(condition, env) if isinstance(source, r.Iterate) and function.name == "any" else None
            if asked is not None and isinstance(source, r.Iterate):
                self.use(self.inside(self.walk(source.target, source_env, at), asked))
                self.use(self.walk(condition, env, _MADE))
                return _MADE
        bound: dict[int, Value] = dict(env)
        for parameter, value in zip(function.parameters, node.args, strict=True):
            forwarded = isinstance(value, r.CallParameter)
            # Only a parameter that is handed on is forwarded, and that has a slot.
            bound[parameter.slot] = env[value.slot] if forwarded else _Argument(value, env)  # type: ignore[union-attr]
            if parameter.value_slot is not None:
                bound[parameter.value_slot] = self.walk(value, env, at)
        if self.calls >= _MAX_CALLS:  # recursion: all that it could reach
            self.paths.add(WHOLE)
            return _MADE
        self.calls += 1
        result = self.walk(function.body, bound, at)
        self.calls -= 1
        return result

    def fold(self, node: r.Reduce | r.Foreach, env: Mapping[int, Value], at: Places) -> Places:
        """What goes in counts as read, so that the running value is one that was made."""
        self.use(self.walk(node.start, env, at))
        self.use(self.walk(node.source, env, at))
        bound = {**env, **dict.fromkeys(r.pattern_slots(node.pattern), _MADE)}
        inner = [*r.pattern_keys(node.pattern), node.update]
        if isinstance(node, r.Foreach) and node.extract is not None:
            inner.append(node.extract)
        for part in inner:
            self.use(self.walk(part, bound, _MADE))
        return _MADE

    def everything(self, node: r.Node, env: Mapping[int, Value], at: Places) -> Places:
        """Paths and assignments: all of the input, and whatever their parts use."""
        self.use(at)
        for child in r.children(node):
            self.use(self.walk(child, env, at))
        return _MADE
