"""The shapes of generated queries: what each of them aims at. generator.py chooses among them.

Nothing here knows inputs, or how outcomes are compared.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml

from muster.jq.builtins import all_names
from tests.differential.jq import vocabulary as v
from tests.differential.jq.grammar import NO_NAMES, Grammar

if TYPE_CHECKING:
    import random

_UNCOMPARABLE: Final = frozenset(("now/0", "builtins/0"))
"""The time of day, and names in the order of a Go map."""

BUILTINS: Final = tuple(
    (name, int(arity)) for name, arity in (each.rsplit("/", 1) for each in all_names() if each not in _UNCOMPARABLE)
)
ON_NUMBERS: Final = frozenset(
    (
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp",
        "exp10", "exp2", "expm1", "gamma", "hypot", "j0", "j1", "jn", "lgamma", "log", "log10", "log1p", "log2", "pow",
        "sin", "sinh", "tan", "tanh", "tgamma", "y0", "y1", "yn",
    )
)  # fmt: skip
"""Functions whose last digits are a matter of the library. Written where nothing is computed from their result."""

_NUMERIC: Final = ON_NUMBERS | frozenset(
    (
        "abs", "ceil", "copysign", "drem", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod", "frexp", "gmtime",
        "infinite", "isfinite", "isinfinite", "isnan", "isnormal", "ldexp", "length", "localtime", "logb", "mktime",
        "modf", "nan", "nearbyint", "nextafter", "nexttoward", "range", "remainder", "rint", "round", "scalb",
        "scalbln", "significand", "sqrt", "todate", "tojson", "tostring", "trunc",
    )
)  # fmt: skip

_TEXT_PIECES: Final = (
    "\\u00e9", "\\ud83d", "\\ude00", "\\u0000", "\\n", "\\q", "\\x41", "\\u12", "é", "😀", "a", "\\(1)", "\\(", ")",
    '\\"', "'", "\u2028", "\x7f", "\t", "\n", "\\u{41}", "\\uD83D\\uDE00", "#", "\\\\(1)", "\\/",
)  # fmt: skip
_NUMBER_PIECES: Final = (
    "0", "1", "9", ".", "e", "E", "-", "+", "00", "999999999999", "_", "x", "e5", "e400", "e-400", ".5", "٣", " ",
    "f", "1" * 60,
)  # fmt: skip
"""What odd literals are put together from."""


@cache
def real_queries() -> tuple[str, ...]:
    """Queries of people: our own, and the table of tests/jq."""
    table = Path(__file__).parents[2] / "jq" / "queries.yaml"
    return (*v.REAL, *(row["query"] for row in yaml.safe_load(table.read_text(encoding="utf-8"))))


class Shapes:
    """Writes one query after the other from one source of chance."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.grammar = Grammar(dice)

    def written(self) -> str:
        return self.grammar.query(self.dice.choice((1, 2, 2, 3, 3, 4)), NO_NAMES)

    def question(self) -> str:
        return self.grammar.question(self.dice.choice((0, 0, 1, 2)))

    def argument(self) -> str:
        """A literal of some type, now and then a place or several values."""
        dice = self.dice
        match dice.randrange(10):
            case 0:
                return dice.choice(v.PLACES)
            case 1:
                return f"{self.argument()}, {self.argument()}"
            case 2:
                return self.grammar.query(1, NO_NAMES)
            case _:
                return dice.choice(dice.choice(v.LITERALS))

    def call(self) -> str:
        """A builtin on an input of any type with arguments of any type."""
        name, arity = self.dice.choice(BUILTINS)
        if name in ON_NUMBERS:
            return self.called(name, [self.argument() for _ in range(arity)])
        text = self.called(name, [self.argument() for _ in range(arity)])
        match self.dice.randrange(12):
            case 0:
                return f"try ({text}) catch ."
            case 1:
                return f"[limit(5; {text})]"
            case 2:
                return f"path({text})"
            case 3:
                return f"[{text}] | tojson"
            case 4:
                return f"({text}) |= 1"
            case 5:
                return f"[.[]? | {text}]"
            case _:
                return text

    def called(self, name: str, args: list[str]) -> str:
        call = f"{name}({'; '.join(args)})" if args else name
        return call if self.dice.random() < 0.2 else f"({self.argument()}) | {call}"

    def call_on_numbers(self) -> str:
        """Functions of numbers, and of times, at the edges."""
        extreme = self.dice.choice
        name, arity = extreme([each for each in BUILTINS if each[0] in _NUMERIC])
        args = "; ".join(extreme(v.EXTREME) for _ in range(arity))
        if name in ("jn", "yn"):
            args = f"{extreme(v.ORDERS)}; {extreme(v.EXTREME)}"
        return f"{extreme(v.EXTREME)} | {name}({args})" if args else f"{extreme(v.EXTREME)} | {name}"

    def operation(self) -> str:
        dice = self.dice
        if dice.random() < 0.15:
            return f"({self.argument()}) | {dice.choice(v.LOOKS)}"
        text = f"({self.argument()}) {dice.choice(v.OPERATORS)} ({self.argument()})"
        if dice.random() < 0.3:
            text = (
                f"({self.argument()}) as $x | ({self.argument()}) as $y | [$x {dice.choice(v.OPERATORS)} $y, ({text})]"
            )
        return text

    def real(self) -> str:
        return self.dice.choice(real_queries())

    def mutated(self) -> str:
        return self.grammar.mutated(self.dice.choice(real_queries()))

    def expression(self) -> str:
        """Regular expressions."""
        dice = self.dice
        subject, pattern, flags = dice.choice(v.SUBJECTS), dice.choice(v.PATTERNS), dice.choice(v.FLAGS)
        name = dice.choice(("test", "match", "capture", "scan", "splits", "split", "sub", "gsub"))
        if name in ("sub", "gsub"):
            new = dice.choice(
                ('"x"', '"<\\(.x)>"', ".n", '"1", "2"', "tojson", '"\\(.n // "-")"', "empty", "1", ".tail")
            )
            args = f"{pattern}; {new}" + (f"; {flags}" if dice.random() < 0.5 else "")
        else:
            args = pattern + (f"; {flags}" if dice.random() < 0.6 or name == "split" else "")
        text = f"{subject} | {name}({args})"
        return f"[{text}]" if dice.random() < 0.5 else text

    def date(self) -> str:
        dice = self.dice
        stamp, text, form = dice.choice(v.EXTREME), dice.choice(v.DATE_TEXTS), dice.choice(v.DATE_FORMATS)
        parts = dice.choice(
            (
                "[2015, 2, 5, 23, 51, 47, 4, 63]", "[2015, 2, 5]", "[1e3, 13, -1, 25, 61, 61.5, 0, 0]", "[]",
                "[1.9, 2.9, 3.9]", "[2015, 2, 29, 2, 30, 0, 0, 0]", '[2015, "2", 5]', "[nan, 0, 1, 0, 0, 0, 0, 0]",
                "[1e18, 0, 1, 0, 0, 0, 0, 0]", "[2015, 2, 5, 23, 51, 47.123456789, 4, 63]",
                "[1, 2, 3, 4, 5, 6, 7, 8, 9]", "[2015, 10, 1, 1, 30, 0, 0, 0]", "[0, 0, 0, 0, 0, -0.5, 0, 0]",
                "[292277026596, 11, 4, 15, 30, 8, 0, 0]", "[2011, 11, 30, 12, 0, 0, 0, 0]", f"[{stamp}, 0, 1]",
                f"[1970, 0, 1, 0, 0, {stamp}]",
            )
        )  # fmt: skip
        return dice.choice(
            (
                f"{stamp} | gmtime", f"{stamp} | todate", f"{stamp} | localtime", f"{stamp} | strftime({form})",
                f"{stamp} | strflocaltime({form})", f"{text} | strptime({form})", f"{text} | strptime({form}) | mktime",
                f"{text} | fromdate", f"{parts} | mktime", f"{parts} | strftime({form})",
                f"{parts} | strflocaltime({form})", f"{parts} | todate", f"{stamp} | gmtime | mktime",
                f"{stamp} | localtime | mktime", f"{stamp} | localtime | strflocaltime({form})",
                f"{stamp} | strftime({form}) | strptime({form})", f"{self.argument()} | strftime({form})",
                f"{stamp} | strftime({self.argument()})", f"{text} | dateadd(\"seconds\"; 1)",
                f"{text} | fromdateiso8601", f"{stamp} | todateiso8601", f"{parts} | gmtime", "now | type",
                f"{stamp} | strftime({form}) | length",
            )
        )  # fmt: skip

    def update(self) -> str:
        """Paths, assignments and deletions."""
        dice = self.dice
        target = self.grammar.path(dice.choice((1, 2, 2)), NO_NAMES)
        new = self.argument() if dice.random() < 0.5 else self.grammar.query(1, NO_NAMES)
        source = "" if dice.random() < 0.7 else f"({self.argument()}) | "
        return source + dice.choice(
            (
                f"({target}) {dice.choice(v.UPDATES)} ({new})", f"({target}) {dice.choice(v.UPDATES)} ({new})",
                f"path({target})", f"[paths] | length, (try path({target}) catch .)", f"del({target})",
                f"[path({target})]", f"pick({target})", f"to_entries? // ({target}) |= ({new})",
                f"delpaths([path({target})])", f"setpath({new}; 1)", f"getpath({new})", f"delpaths({new})",
                f"map_values({new})", f"with_entries({new})", f"({target}) |= empty",
                f"({target}) = ({new}) | ({target}) |= .", f"path(getpath({new}))",
                f"reduce path({target}) as $p (.; setpath($p; $p | length))", f"try (({target}) |= error) catch .",
                f"first(path({target}))", f"limit(2; path({target}))", f"[.. | ({target})?]",
                f"({target}) as $x | path($x)", f"({target}) as $x | $x | path({target})",
                f"path(({target}) | ({new}))", f"path({target} | select({new}))",
                f"path(if {new} then {target} else . end)", f"path(({target}) // ({target}))",
                f"path(first({target}), last({target}))", f"path(reduce (1, 2) as $i (.; {target}))",
                f"path(foreach (1, 2) as $i (.; {target}; {target}))", f"path(label $l | ({target}), break $l)",
                f"path(try {target} catch .)", f"path({target} | recurse)", f"path({target} | getpath([\"a\", 0]))",
                f"path({target}[1:][:1])", f"({target})[1:2] = [{new}]", f"({target}) as [$a, $b] | path(.[$b]?)",
            )
        )  # fmt: skip

    def literal(self) -> str:
        """Texts and numbers as few people write them."""
        dice = self.dice
        kind = dice.randrange(4)
        if kind == 0:
            return '"' + "".join(dice.choice(_TEXT_PIECES) for _ in range(dice.randrange(1, 6))) + '"'
        if kind == 1:
            return "".join(dice.choice(_NUMBER_PIECES) for _ in range(dice.randrange(1, 6)))
        if kind == 2:
            body = dice.choice(dice.choice(v.LITERALS))
            return f"({body}) | {dice.choice(v.TEXTUAL)}"
        text = dice.choice(v.TEXTS)
        return f"{text} | fromjson, (try tonumber catch .), (explode | implode), (tojson | fromjson)"

    def deep(self) -> str:
        """Many levels: of values, of texts that are read, of queries."""
        dice = self.dice
        levels = dice.choice((1, 10, 60, 100, 300, 500, 700, 990, 998, 1000, 1002, 1500))
        if dice.random() < 0.1:
            levels = dice.choice((5000, 9998, 9999, 10000, 10001))
        inner = dice.choice(("", "1", "{}", "nul", '"', "[", '\\"x\\"'))
        within = "" if inner == '"' else inner
        few = min(levels, 70)
        return dice.choice(
            (
                f'("[" * {levels} + "{within}" + "]" * {levels}) | fromjson | [recurse(.[]?)] | length',
                f'("{{\\"a\\":" * {levels} + "1" + "}}" * {levels}) | fromjson | tojson | length',
                f'("[" * {levels}) | try fromjson catch .', f"reduce range({few}) as $i (1; [.]) | tojson",
                f"reduce range({few}) as $i (1; {{a: .}}) | [paths] | length",
                f"[limit({few}; recurse([.]))] | last | flatten", "(" * few + "1" + ")" * few, "[" * few + "]" * few,
                "-" * few + "1", f"reduce range({few}) as $i (.; {{a: ., b: .}} | .a) | type",
                f'"[{"[" * few}1{"]" * few}]" | fromjson | flatten',
                f"[range({few})] | reduce .[] as $k (null; setpath([range($k) | 0]; $k))",
                f'("[" * {levels} + "]" * {levels}) | fromjson | flatten | length',
                f'("[" * {levels} + "]" * {levels}) | (fromjson == fromjson), (fromjson | tostring | length), '
                "([fromjson] | sort | length)",
                f"reduce range({levels}) as $i (null; [.]) | getpath([range(3) | 0]) | type",
                f'("[" * {levels} + "]" * {levels + 1}) | try fromjson catch .',
            )
        )  # fmt: skip

    def characters(self) -> str:
        """A real query with characters exchanged: mostly refused, and the refusal is compared."""
        dice = self.dice
        text = list(dice.choice(real_queries()))
        for _ in range(dice.choice((1, 1, 2, 3))):
            at = dice.randrange(len(text) + 1)
            match dice.randrange(3):
                case 0:
                    text.insert(at, dice.choice("()[]{}|,;:.$@\"\\?/+-*%=<>!#éa1 \n&^`~'\u00a0\x00"))
                case 1 if at < len(text):
                    del text[at]
                case _ if at < len(text):
                    text[at] = dice.choice('()[]{}|,;:.$@"\\?/+-=!#a0 ')
        return "".join(text)
