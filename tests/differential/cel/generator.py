"""Expressions by grammar, made of what an environment declares; one follows from its seed, index and environment.

A program is one of: a call of a function or operator, each argument of the right type, of any other, or hidden behind
dyn(); an expression of a wanted type, several levels deep; a real expression with a few tokens changed; or a literal as
nobody writes it. Nothing here runs anything but the tables of declarations.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from muster.cel import make_program
from muster.cel.checking import types as t
from muster.cel.checking.types import Kind, Type
from muster.errors import InvalidExpressionError
from tests.differential.cel import literals
from tests.differential.cel.corpus import EXPRESSIONS
from tests.differential.cel.world import SETS, TYPES, declared

if TYPE_CHECKING:
    from muster.cel import Overload

OPERATORS: Final = {
    **{f"_{sign}_": f"({{0}} {sign} {{1}})" for sign in ("+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=")},
    "_&&_": "({0} && {1})",
    "_||_": "({0} || {1})",
    "!_": "!{0}",
    "-_": "-{0}",
    "@in": "({0} in {1})",
    "_[_]": "{0}[{1}]",
    "_[?_]": "{0}[?{1}]",
    "_?_:_": "({0} ? {1} : {2})",
}
FOLDS: Final = (
    # a macro, and the type of its body: a condition, or anything
    *(("{0}.all(v, {1})", t.BOOL), ("{0}.exists(v, {1})", t.BOOL), ("{0}.exists_one(v, {1})", t.BOOL)),
    *(("{0}.filter(v, {1})", t.BOOL), ("{0}.map(v, {1})", t.DYN), ("{0}.map(v, {2}, {1})", t.DYN)),
    *(("{0}.sortBy(v, {1})", t.DYN), ("{0}.all(w, v, {1})", t.BOOL), ("{0}.exists(w, v, {1})", t.BOOL)),
    *(("{0}.existsOne(w, v, {1})", t.BOOL), ("{0}.transformList(w, v, {1})", t.DYN)),
    *(("{0}.transformList(w, v, {2}, {1})", t.DYN), ("{0}.transformMap(w, v, {1})", t.DYN)),
    *(("{0}.transformMap(w, v, {2}, {1})", t.DYN), ("{0}.transformMapEntry(w, v, {{w: {1}}})", t.DYN)),
    *(("optional.of({0}).optMap(v, {1})", t.DYN), ("optional.of({0}).optFlatMap(v, optional.of({1}))", t.DYN)),
    *(("cel.bind(v, {0}, {1})", t.DYN),),
)
MESSAGES: Final[dict[str, tuple[str, ...]]] = {
    "google.protobuf.Timestamp": ("seconds", "nanos"),
    "google.protobuf.Duration": ("seconds", "nanos"),
    "google.protobuf.Struct": ("fields",),
    "google.protobuf.Value": ("null_value", "number_value", "string_value", "bool_value", "struct_value", "list_value"),
    "google.protobuf.ListValue": ("values",),
    **{
        f"google.protobuf.{name}Value": ("value",)
        for name in ("Bool", "Bytes", "Double", "Float", "Int32", "Int64", "String", "UInt32", "UInt64")
    },
    "google.protobuf.Any": ("type_url", "value"),
    "google.protobuf.Empty": (),
    "no.such.Message": ("x",),
    "managedCluster": ("x",),
}
SIMPLE: Final = (t.BOOL, t.BYTES, t.DOUBLE, t.DURATION, t.INT, t.NULL, t.STRING, t.TIMESTAMP, t.UINT)
PATHS: Final = (
    *("managedCluster.metadata.labels", "managedCluster.metadata.name", "managedCluster.spec.taints", "managedCluster"),
    *("managedCluster.status.clusterClaims", "managedCluster.metadata.labels.env", "managedCluster.nope", "x.a", "x.b"),
    *("managedCluster.status.capacity.cpu", "managedCluster.spec.leaseDurationSeconds", "managedCluster.status.load"),
    *("managedCluster.status.nothing", "managedCluster.spec", "md.n", "md.l", "md.m", "ld", "ld[0]", "x", "properties"),
    *("properties[0].value", "lm[0].name", "lm[0]", "ms.env", "ls[1]", "li[0]", "managedCluster.metadata.annotations"),
    *("managedCluster.status.conditions[0].type", "managedCluster.metadata.creationTimestamp", "ms", "md", "li", "ls"),
)


@dataclass(frozen=True, slots=True)
class Program:
    """One generated case: all of it follows from environment, seed and index."""

    environment: str
    text: str
    chosen: int  # set of values
    seed: int
    index: int


@dataclass(frozen=True, slots=True)
class _Tables:
    """What an environment offers to a text."""

    calls: tuple[tuple[str, Overload], ...]
    folds: tuple[tuple[str, Type], ...]
    opaque: tuple[Type, ...]


@lru_cache(maxsize=32)
def tables(name: str) -> _Tables:
    env = declared(name)
    calls = tuple(
        (function.name, overload)
        for function in sorted(env.functions.values(), key=lambda each: each.name)
        for overload in function.overloads
        if "@" not in function.name or function.name in OPERATORS
    )
    folds = []
    for text, body in FOLDS:
        try:
            make_program(text.format("dyn([1])", "true", "true"), env)
        except InvalidExpressionError:
            continue
        folds.append((text, body))
    opaque = {str(each.result): each.result for _, each in calls if each.result.kind in (Kind.OPAQUE, Kind.STRUCT)}
    return _Tables(calls, tuple(folds), tuple(opaque.values()))


def program(environment: str, seed: int, index: int) -> Program:
    """The case of that seed and index; no other case has a part in it."""
    pick = random.Random(f"{environment}/{seed}/{index}")
    text = _Writer(pick, environment).program()
    return Program(environment, text, pick.choice((0, 0, 0, 1, 2)) % len(SETS), seed, index)


class _Writer:
    def __init__(self, pick: random.Random, environment: str) -> None:
        self.pick = pick
        self.tables = tables(environment)
        self.loops = 0

    def program(self) -> str:
        kind = self.pick.random()
        if kind < 0.40:
            name, overload = self.pick.choice(self.tables.calls)
            return self.call(name, overload, self.pick.choice((0, 0, 0, 1)))
        if kind < 0.62:
            return self.of(self.any_type(), self.pick.choice((1, 2, 2, 3)))
        if kind < 0.70:
            return self.fold(self.pick.choice((0, 1, 2)))
        if kind < 0.74:
            return self.message()
        if kind < 0.92:
            return self.mutated()
        if kind < 0.96:
            return self.literal()
        return self.chain()

    def any_type(self) -> Type:
        kind = self.pick.random()
        if kind < 0.60:
            return self.pick.choice(SIMPLE)
        if kind < 0.72:
            return t.list_of(self.pick.choice(SIMPLE))
        if kind < 0.80:
            return t.map_of(self.pick.choice((t.STRING, t.STRING, t.INT, t.BOOL, t.UINT)), self.pick.choice(SIMPLE))
        if kind < 0.86:
            return t.DYN
        if kind < 0.90:
            return t.TYPE
        return self.pick.choice(self.tables.opaque) if self.tables.opaque else t.DYN

    # --- expressions of a type

    def of(self, wanted: Type, depth: int) -> str:
        """An expression that has the type, mostly."""
        if self.loops and self.pick.random() < 0.25:
            return self.pick.choice(("v", "v", "w"))
        if depth > 0 and self.pick.random() < 0.65:
            fitting = _fitting(self.tables, wanted.kind, wanted.name)
            if fitting and self.pick.random() < 0.8:
                return self.call(*self.pick.choice(fitting), depth - 1, wanted)
            if self.pick.random() < 0.3:
                return f"({self.of(t.BOOL, depth - 1)} ? {self.of(wanted, depth - 1)} : {self.of(wanted, depth - 1)})"
            if self.pick.random() < 0.4:
                return self.fold(depth - 1)
        return self.plain(wanted, depth)

    def plain(self, wanted: Type, depth: int) -> str:
        pick = self.pick
        names = [name for name, each in TYPES.items() if each == wanted]
        if names and pick.random() < 0.35:
            return pick.choice(names)
        match wanted.kind:
            case Kind.BOOL:
                return pick.choice(("true", "false"))
            case Kind.INT:
                return pick.choice(literals.INTS)
            case Kind.UINT:
                return pick.choice(literals.UINTS)
            case Kind.DOUBLE:
                return pick.choice(literals.DOUBLES)
            case Kind.STRING:
                pool = pick.choice((literals.STRINGS, literals.STRINGS, pick.choice(list(literals.TEXTS.values()))))
                return pick.choice(pool) if pool is not literals.TEXTS["small"] else "'x'"
            case Kind.BYTES:
                return pick.choice(literals.BYTES)
            case Kind.NULL:
                return "null"
            case Kind.DURATION:
                return f"duration({pick.choice(literals.TEXTS['duration'])})"
            case Kind.TIMESTAMP:
                return f"timestamp({pick.choice((*literals.TEXTS['timestamp'], *literals.INTS))})"
            case Kind.TYPE:
                return pick.choice(
                    ("int", "type(1)", "list", "map", "string", "null_type", "type", "google.protobuf.Timestamp", "dyn")
                )
            case Kind.LIST:
                count = pick.choice((0, 1, 2, 2, 3))
                inner = [self.of(wanted.params[0], depth - 1) for _ in range(count)]
                if pick.random() < 0.08 and inner:
                    inner[0] = f"?optional.of({inner[0]})"
                return f"[{', '.join(inner)}]"
            case Kind.MAP:
                count = pick.choice((0, 1, 1, 2))
                entries = [(self.of(wanted.params[0], 0), self.of(wanted.params[1], depth - 1)) for _ in range(count)]
                return "{" + ", ".join(f"{key}: {value}" for key, value in entries) + "}"
            case Kind.OPAQUE | Kind.STRUCT:
                return self.opaque(wanted, depth)
            case Kind.WRAPPER:
                return self.of(wanted.params[0], depth)
            case _:
                if pick.random() < 0.45:
                    return pick.choice(PATHS)
                text = self.of(pick.choice(SIMPLE), depth - 1)
                return f"dyn({text})" if pick.random() < 0.5 else text

    def opaque(self, wanted: Type, depth: int) -> str:
        if wanted.name == "optional_type":
            if self.pick.random() < 0.3:
                return self.pick.choice(
                    ("optional.none()", "md.?n", "md.?nope", "li[?0]", "ld[?9]", "optional.of(null)", "optional.of(i)")
                )
            return f"optional.of({self.of(wanted.params[0] if wanted.params else t.DYN, depth - 1)})"
        makers = [
            (name, each)
            for name, each in self.tables.calls
            if each.result.name == wanted.name and wanted.name not in {one.name for one in each.args}
        ]
        return self.call(*self.pick.choice(makers), 0) if makers else "null"

    # --- calls

    def call(self, name: str, overload: Overload, depth: int, wanted: Type | None = None) -> str:
        bound: dict[str, Type] = {}
        if wanted is not None:
            _bind(overload.result, wanted, bound)
        meanings = literals.WANTED.get(name, ())
        args = []
        for position, declared_type in enumerate(overload.args):
            meaning = meanings[position] if position < len(meanings) else ""
            args.append(self.argument(declared_type, meaning, bound, depth))
        if self.pick.random() < 0.02:
            args = args[:-1] if self.pick.random() < 0.5 and len(args) > 1 else [*args, self.of(self.any_type(), 0)]
        if name in OPERATORS:
            args += ["null"] * (3 - len(args))
            return OPERATORS[name].format(*args)
        if overload.member and args:
            return f"{args[0]}.{name}({', '.join(args[1:])})"
        return f"{name}({', '.join(args)})"

    def argument(self, declared_type: Type, meaning: str, bound: dict[str, Type], depth: int) -> str:
        pick = self.pick
        if pick.random() < 0.13:
            text = self.of(self.any_type(), depth)
            return f"dyn({text})" if pick.random() < 0.7 else text
        fits = declared_type.kind in (Kind.STRING, Kind.INT, Kind.ANY, Kind.DYN, Kind.TYPE_PARAM)
        if meaning and fits and pick.random() < 0.75 and (meaning != "small") == (declared_type.kind is not Kind.INT):
            text = pick.choice(literals.TEXTS[meaning])
        else:
            text = self.of(self.bind(declared_type, bound), depth)
        return f"dyn({text})" if pick.random() < 0.12 else text

    def bind(self, declared_type: Type, bound: dict[str, Type]) -> Type:
        """The type with its parameters chosen, the same wherever they stand."""
        if declared_type.kind is Kind.TYPE_PARAM:
            if declared_type.name not in bound:
                bound[declared_type.name] = self.any_type()
            return bound[declared_type.name]
        if not declared_type.params:
            return declared_type
        inner = tuple(self.bind(each, bound) for each in declared_type.params)
        return Type(declared_type.kind, declared_type.name, inner)

    # --- macros, messages, chains

    def fold(self, depth: int) -> str:
        text, body = self.pick.choice(self.tables.folds)
        over = (
            self.pick.choice(PATHS)
            if self.pick.random() < 0.35
            else self.of(
                self.pick.choice((t.list_of(self.pick.choice(SIMPLE)), t.map_of(t.STRING, self.pick.choice(SIMPLE)))),
                depth,
            )
        )
        self.loops += 1
        inner, guard = self.of(body if body is t.BOOL else self.any_type(), depth), self.of(t.BOOL, depth)
        self.loops -= 1
        return text.format(over, inner, guard)

    def message(self) -> str:
        pick = self.pick
        name = pick.choice(list(MESSAGES))
        fields = MESSAGES[name]
        chosen = pick.sample(fields, min(len(fields), pick.choice((0, 1, 1, 1, 2))))
        if pick.random() < 0.1:
            chosen.append(pick.choice(("value", "seconds", "nope")))
        wanted = {"seconds": t.INT, "nanos": t.INT, "number_value": t.DOUBLE, "string_value": t.STRING}
        wanted |= {"bool_value": t.BOOL, "null_value": t.NULL, "type_url": t.STRING}
        wanted |= {"fields": t.map_of(t.STRING, t.DYN), "values": t.list_of(t.DYN), "value": pick.choice(SIMPLE)}
        wanted |= {"struct_value": t.map_of(t.STRING, t.DYN), "list_value": t.list_of(t.DYN)}
        parts = []
        for field in chosen:
            kind = wanted.get(field, t.INT)
            text = self.of(kind if pick.random() < 0.85 else self.any_type(), 1)
            parts.append(f"{field}: {text}" if pick.random() < 0.95 else f"?{field}: optional.of({text})")
        made = f"{name}{{{', '.join(parts)}}}"
        shape = pick.choice(
            ("{0}", "{0}", "{0}", "{0} == {1}", "type({0})", "dyn({0}) == {1}", "[{0}]", "{0}.{2}", "has({0}.{2})")
        )
        return shape.format(made, self.of(self.any_type(), 0), pick.choice(fields or ("x",)))

    def chain(self) -> str:
        """Steps behind a value: fields, keys, optional ones, methods without arguments."""
        pick = self.pick
        text = pick.choice(PATHS) if pick.random() < 0.7 else self.plain(self.any_type(), 1)
        for _ in range(pick.choice((1, 2, 3))):
            text += pick.choice(
                (".a", ".?a", "[0]", "['env']", "[?'env']", "[?0]", ".size()", ".hasValue()", ".value()", ".orValue(1)")
            )
        return f"has({text}.b)" if pick.random() < 0.2 else text

    # --- literals and mutations

    def literal(self) -> str:
        pick = self.pick
        kind = pick.random()
        if kind < 0.35:
            return pick.choice(literals.BROKEN_STRINGS + literals.BROKEN_NUMBERS)
        if kind < 0.6:
            digits = "".join(pick.choice("0123456789abcdefABCDEF") for _ in range(pick.choice((1, 2, 3, 4, 8))))
            return f"'{pick.choice(('', 'x'))}\\{pick.choice('xXuU01234567')}{digits}'"
        if kind < 0.8:
            letters = "".join(pick.choice("ab\\'\"\\nrxuU01{}é𝛀 \t") for _ in range(pick.choice((2, 4, 8))))
            return f"{pick.choice(('', 'r', 'b', 'br', 'R'))}'{letters}'"
        sign = pick.choice(("", "-", "--", "+"))
        number = pick.randrange(10 ** pick.choice((1, 5, 18, 19, 20, 25)))
        return f"{sign}{number}{pick.choice(('', 'u', '.0', 'e5', '.'))}"

    def mutated(self) -> str:
        """A real expression with a few of its tokens changed."""
        pick = self.pick
        tokens = _TOKENS.findall(pick.choice(EXPRESSIONS))
        for _ in range(pick.choice((0, 1, 1, 1, 2, 3))):
            at = pick.randrange(len(tokens))
            change = pick.random()
            if change < 0.15:
                del tokens[at]
                if not tokens:
                    return ""
            elif change < 0.25:
                tokens.insert(at, pick.choice(tokens))
            elif change < 0.35:
                other = pick.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            else:
                tokens[at] = self.replacement(tokens[at])
        return "".join(tokens)

    def replacement(self, token: str) -> str:
        pick = self.pick
        if token[0] in "'\"":
            return pick.choice((self.plain(t.STRING, 0), self.of(self.any_type(), 1)))
        if token[0].isdigit():
            return pick.choice((pick.choice(literals.INTS), self.of(self.any_type(), 1)))
        if token.isidentifier():
            return pick.choice((*TYPES, "true", "null", "env", "name", "size", "matches", "nope", "string", "v"))
        if token.strip() in _SIGNS:
            return f" {pick.choice(_SIGNS)} "
        return pick.choice((token, ".", "[", ")", ", ", "?", " : ", "!", "-", ".?", "[?", "{"))


_TOKENS = re.compile(
    r"\s*(?:[A-Za-z_]\w*|[0-9][0-9.xua-f]*|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|&&|\|\||[=!<>]=|.)\s*"
)
_SIGNS: Final = ("+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "in")


def _fitting(tables_of: _Tables, kind: Kind, name: str) -> tuple[tuple[str, Overload], ...]:
    """The overloads whose result has the type."""
    return tuple(
        (function, each)
        for function, each in tables_of.calls
        if each.result.kind is kind and (kind not in (Kind.OPAQUE, Kind.STRUCT) or each.result.name == name)
    )


def _bind(declared_type: Type, wanted: Type, bound: dict[str, Type]) -> None:
    if declared_type.kind is Kind.TYPE_PARAM:
        bound[declared_type.name] = wanted
        return
    for inner, outer in zip(declared_type.params, wanted.params, strict=False):
        _bind(inner, outer, bound)
