"""jq queries that a tenant could write to hurt: every builtin and operator, with arguments that are small to write and
endless to walk, huge, deep, of the wrong type, or at the edge of what a number can be.

`programs` generates them, always the same for a seed. `verdict` compiles and runs one by both evaluators and fails on
whatever a controller could not survive. `make hostile` and tests/jq/test_hostile_programs.py call it; by hand:

    python -m tests.hostile.jq_programs --count 100000 --seed 1
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import resource
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from benchmarks.jq import agent

from muster.classification.outcomes import LIMITS, judge
from muster.errors import BudgetExceededError, EvaluationError, InvalidExpressionError
from muster.jq import Host, Limits, Meter, Program, compile_query, to_json
from muster.jq.builtins import all_names

if TYPE_CHECKING:
    from collections.abc import Iterator

SMALL_LIMITS: Final = replace(LIMITS, steps=2_000, cells=10_000, outputs=200, seconds=None)
"""For most programs, so that a hundred thousand are through in minutes. A hole shows in small budgets too."""

REAL_EVERY: Final = 50
"""One program of so many runs with the budgets of classification."""

SECONDS: Final = 2.0  # CPU of compiling and of each run
SMALL_SECONDS: Final = 0.4
MEMORY_MB: Final = 200
LONGEST_MESSAGE: Final = 600
_MOST_PRINTED: Final = 10

_HOST: Final = Host(now=lambda: 1_700_000_000.5)
_NAMES: Final = tuple(tuple(name.rsplit("/", 1)) for name in all_names())

# ── what programs are made of ───────────────────────────────────────────────

_GRAPHS: Final = (
    "reduce range(60) as $_ ([1]; [., .])",
    "reduce range(60) as $_ (1; {a: ., b: .})",
    'reduce range(50) as $_ ("x" * 200; [., .])',
    "reduce range(40) as $_ ([]; [., ., .])",
    "reduce range(60) as $_ (null; [., {a: .}])",
    "reduce range(30) as $_ (.; [., .])",
    '[limit(200; repeat({("k" * 300): 1}))]',
    "[limit(300; repeat(reduce range(9) as $_ (9; . * .)))]",
)
_HUGE: Final = (
    '"x" * {n}', '"ab" * {n}', '"é" * {n}', "\"<'&%\\\\u0000\" * {n}", '" " * {n}', '"%c" * {n}', '"%1024d" * {n}',
    '"aaaa" * {n} + "b"', '"1" * {n}', '"[" * {n} + "]" * {n}', '"[[]," * {n}', "[range({n})]", "[range({n}) | [.]]",
    "[range({n}) | tostring]", "[range({n}) | {{key: tostring, value: .}}] | from_entries",
    "[limit({n}; repeat(null))]", '[limit({n}; repeat("a"))]', "[limit({n}; repeat([]))]",
    "[limit({n}; repeat(1.5))]", '[limit({n}; repeat("x" * 99))]', "reduce range({d}) as $_ (1; [.])",
    "reduce range({d}) as $_ (1; {{a: .}})", '("[" * {d} + "]" * {d}) | fromjson',
    "[range({n}) | [., -., tostring]] | map({{a: .[0], b: .[1]}})", '{{("k" * {n}): 1, ("k" * {n} + "a"): 2}}',
)  # fmt: skip
_NUMBERS: Final = (
    "0", "-0", "1", "-1", "0.5", "1e1000", "-1e1000", "1e308", "5e-324", "9007199254740993", "9223372036854775807",
    "-9223372036854775808", "18446744073709551616", "nan", "infinite", "-infinite", "1e18", "-1e18", "1000000000",
    "536870911", "reduce range(12) as $_ (10; . * .)", "reduce range(14) as $_ (7; . * .)", "4294967296", "1e15 + 0.5",
    "reduce range(9) as $_ (2; . * .) + 1", "253402300800", "-62135596801", "1e-7",
)  # fmt: skip
_TEXTS: Final = (
    '""', '"a"', '"abc"', '"a,b, c"', '"12"', '"-1.5e400"', '"\\u0000"', '"\\ud800"', '"2015-03-05T23:51:47Z"', '"%"',
    '"%Y-%m-%dT%H:%M:%SZ"', '"%c %Z %j %U"', '"%_1024c%^^^B%:::z%9999s%-#0Q"', '"%s"', '"true"', '"g"', '"gimsx"',
    '"n"', '"(a+)+$"', '"(.*)(.*)(.*)(.*)(.*)"', '"(\\\\pL{1000})"', '"((a|b)?){30}"', '"^$"', '"(?<x>.)(?<y>é)?"',
    '"\\\\C"', '"["', '"x{999}" * 50', '"\\\\pL" * 300', '"(" * 300 + ")" * 300', '"aGVsbG8="', '"%zz"', '"%41%c3"',
    '"text"', '"json"', '"html"', '"nope" * 300', '"base64d"', '"csv"', '"tsv"', '"sh"', '"uri"',
    '"[1,[2,{\\"a\\":3}]]"', '"{\\"a\\":1e999}"', '"\\u00b2"',
)  # fmt: skip
_OTHERS: Final = (
    "null", "true", "false", "[]", "{}", ".", ".disks", ".cpu.flags", ".interfaces", ".hostname", ".disks[0].smart",
    ".cpu", "[1, 2, 3]", '{"a": 1, "b": [2]}', '[["a", 0], []]', '[["a"], 1]', '{"start": 0, "end": 1e9}', "$ENV",
    '[{"key": "a", "value": 1}, null]', "[[1, 2], [3, 4], 5]", '[null, true, 1, "a", [], {}]', "[nan, nan, 1, nan]",
    '[2015, 2, 5, 23, 51, 47, 4, 63]', "[1e300, -1e300, nan, 1e18, 0, 1e99, 0, 0]", "builtins", "now",
)  # fmt: skip
_STREAMS: Final = (
    ".[]?", "range(20)", "range(1e18)", "range(0; infinite)", "range(1; 0; -1e-300)", "repeat(.)", "..",
    "recurse(. + 1)", "recurse([., .])", "paths", "tostream", "empty", "1, 2, 3", "limit(5; repeat(1))",
    "while(true; .)", "keys[]?", "def f: f; f", "def f: 1, f; f", "def f: [f]; f", "def f: def g: f; g, .; f",
    "def f(g): f(g | g); f(.)", "to_entries[]?", "combinations(9)", "error", 'error("x" * 1000)',
    "first(range(10; 0))", 'splits("")', 'match(""; "g")',
)  # fmt: skip

_WRAPPERS: Final = (
    "try ({}) catch .", "try error({}) catch .", "({})?", "({}) // 1", "error({})", "[{}] | length", "first({})",
    "[limit(3; {})]", "({}) as [$x, {{a: $y}}] ?// $x | [$x, $y]", "({}) | halt_error",
    "try ({} | halt_error) catch 1", "label $out | ({}), break $out", "isempty({})", "any({}; .)", "all({}; . == .)",
    "last({})", "({}) | not", "({}) == ({})", '"\\({})"', '@json "a\\({})"', '@sh "a\\({})"', '@csv "\\([{}])"',
    '@html "\\({})"', '@uri "\\({})"', '@base64 "\\({})"', "if ({}) then 1 else 2 end",
    "reduce ({}) as $x (0; . + 1)", "reduce ({}) as $x (null; [., $x])", "foreach ({}) as $x (0; . + 1; [., $x])",
    "[{}] | add", "[{}] | sort | unique | reverse", "[{}, {}] | sort_by(.) | group_by(.)",
    "[{}] | min_by(.), max_by(.)", "path({})", "[paths({})]", "del({})", "to_entries? // ({})",
    "[{}] | tojson | fromjson", "[{}] | flatten", "walk({})", "map_values({})", "[{}] | transpose",
    "{{a: ({})}} | .a.b.c |= 1", "({}) |= .", "({}) = 1", "({}) += 1", ".cpu[({})]? = 1", ".[({})]?",
    ".disks[({}):]?", "getpath([{}])", "[({}) | tostring | length]", "[({}) | ascii_downcase? | explode | implode]",
    "def f(g): g | g; f({})", "[{}] | .[0] < .[0]", "input_line_number?, ({})", "({}) | tojson | length > 3",
    '({}) | tostring | test("a")', "({}) | .[0].a[1].b", "({}) | .a - .b", "({}) | length",
    "try (({}) | error) catch (. | tojson | length)", "({}) | limit(3; .[]?)", "[.[]? | ({})]", "until(true; {})",
    '({}) | getpath(["a", 0, "b"])', "({}) | setpath([0, 1]; .)", "({}) | delpaths([[0, 0], [1]])",
    "({}) | pick(.[0])", '({}) | splits("a")', '({}) | ltrimstr("x") | rtrimstr("x")', "[{}] | inside([[]])",
    "{{({} | tostring): 1}} | keys", "({}) as $v | [range(99999) | $v] | add",
    "({}) as $v | range(99999) | try ($v | error) catch 1", "({}) as $v | last(range(99999) | $v == $v)",
    "({}) as $v | [range(9999) | $v | tostring?]", "({}) as $v | last(range(99999) | try ($v + 1) catch .)",
    "({}) as $v | [range(99) | {{($v | tostring): .}}] | add",
    "({}) as $v | last(range(99999) | $v[0]?, ($v | .a?), ($v | length?))",
    "({}) as $v | all(range(99999); $v <= $v)",
)  # fmt: skip
_OPERATORS: Final = (
    "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or", "//", ",", "|", "|=", "=", "+=", "-=",
    "*=", "/=", "%=", "//=",
)  # fmt: skip
_FORMATS: Final = ("@text", "@json", "@html", "@uri", "@urid", "@csv", "@tsv", "@sh", "@base64", "@base64d")


class _Writer:
    """Writes one program after the other from one source of chance."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def program(self) -> str:
        text = self.query(self.dice.choice((1, 1, 2, 2, 3)))
        for _ in range(self.dice.choice((0, 1, 1, 2))):
            text = self.wrapped(text)
        return text

    def atom(self) -> str:
        """One argument."""
        dice = self.dice
        match dice.randrange(12):
            case 0 | 1 | 2:
                return dice.choice(_GRAPHS)
            case 3 | 4:
                count = dice.choice((3, 30, 300, 3_000, 30_000, 300_000, 3_000_000))
                return dice.choice(_HUGE).format(n=count, d=dice.choice((30, 300, 3_000, 10_001)))
            case 5 | 6:
                return dice.choice(_NUMBERS)
            case 7 | 8:
                return dice.choice(_TEXTS)
            case 9:
                return dice.choice(_STREAMS)
            case _:
                return dice.choice(_OTHERS)

    def query(self, depth: int) -> str:
        dice = self.dice
        if depth <= 0:
            return self.atom()
        match dice.randrange(10):
            case 0 | 1 | 2 | 3 | 4:
                return self.call(depth - 1)
            case 5 | 6:
                return f"({self.query(depth - 1)}) {dice.choice(_OPERATORS)} ({self.query(depth - 1)})"
            case 7:
                return f"({self.query(depth - 1)}) | {dice.choice(_FORMATS)}"
            case 8:
                return self.wrapped(self.query(depth - 1))
            case _:
                return self.atom()

    def call(self, depth: int) -> str:
        """A builtin on an input, with arguments; now and then the input is walked to it by another builtin."""
        name, arity = self.dice.choice(_NAMES)
        args = "; ".join(self.query(depth if self.dice.random() < 0.3 else 0) for _ in range(int(arity)))
        call = f"{name}({args})" if args else name
        return f"({self.query(depth if self.dice.random() < 0.4 else 0)}) | {call}"

    def wrapped(self, text: str) -> str:
        wrapper = self.dice.choice(_WRAPPERS)
        return wrapper.format(*[text] * wrapper.count("{}"))


def programs(seed: int, count: int) -> Iterator[str]:
    """So many queries, the same ones for the same seed."""
    writer = _Writer(seed)
    for _ in range(count):
        yield writer.program()


_LOOP_INPUTS: Final = (
    '"x" * 1400000', '"ab" * 600000', '"é" * 300000', '"aaaa" * 100000 + "b" + "aaaa" * 100000', '"1" * 39000',
    '"%c" * 9000', '"[" * 90000', '"a\\u0000" * 100000', "[range(60000)]", '[limit(60000; repeat("a"))]',
    "[limit(60000; repeat([]))]", "[limit(60000; repeat(null))]",
    '("y" * 100000) as $y | [limit(9000; repeat($y, $y + ""))]', "[range(9000) | tostring]",
    "[range(9000) | {key: tostring, value: .}] | from_entries", '{("k" * 300000): 1, ("k" * 300000 + "a"): 2}',
    "reduce range(60) as $_ ([1]; [., .])", "reduce range(60) as $_ (1; {a: ., b: .})",
    "reduce range(14) as $_ (10; . * .)",
    "(reduce range(14) as $_ (10; . * .)) as $b | [limit(9000; repeat($b, $b + 1))]",
    "reduce range(9000) as $_ (1; [.])", "reduce range(900) as $_ (1; [.])", "[range(900) | [.]]",
    "[[range(90)], [range(90)], [range(90)]]", "1e308", "-1", "30.5", "null",
)  # fmt: skip
_LOOP_ARGUMENTS: Final = (
    "$v", ".", "1", '"a"', '"aaaa" * 9000 + "c" + "aaaa" * 9000', "[0, 1]", "1e5", '["a"]', "$v[0]?", '"(.*)(.*)a"',
)  # fmt: skip


def loops() -> Iterator[str]:
    """Every builtin, format and operator again and again on a large value: each call must pay for itself."""
    calls = [f"($v | {name})" for name in (*_FORMATS, ".[]?", ".[1:]", ".[0]", "..", '.["a"]?', '"\\(.)"', "-.")]
    for name, arity in _NAMES:
        if arity == "0":
            calls.append(f"($v | {name})")
        else:
            calls.extend(f"($v | {name}({'; '.join([argument] * int(arity))}))" for argument in _LOOP_ARGUMENTS)
    for operator in _OPERATORS:
        calls.extend(f"(($v) {operator} ({argument}))" for argument in ("$v", "$w", "1", '"a"', "[1]"))
    for value in _LOOP_INPUTS:
        for call in calls:
            yield f"({value}) as $v | ({value}) as $w | last(range(1e9) | try first({call}) catch 0)"


def inventory() -> Any:
    """What a host reports, as classification sees it."""
    return agent(7, random.Random(7))


# ── running them ────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Worst:
    """The slowest program so far, and by what."""

    seconds: float = 0.0
    program: str = ""

    def note(self, seconds: float, program: str) -> None:
        if seconds > self.seconds:
            self.seconds, self.program = seconds, program


def verdict(
    text: str, host: Any, limits: Limits = SMALL_LIMITS, seconds: float = SECONDS, worst: Worst | None = None
) -> str:
    """What became of a query: invalid, budget, error or ended. AssertionError for anything else, and for the cost."""
    before = _peak_mb()
    program = _timed("compiling", text, seconds, worst, lambda: _compiled(text))
    if program is None:
        return "invalid"
    _timed("what it reads", text, seconds, worst, lambda: program.reads)
    written = _timed(
        "generated code", text, seconds, worst, lambda: _outcome(program.outputs(host, limits=limits, host=_HOST))
    )
    plain = _timed(
        "plain evaluator",
        text,
        seconds,
        worst,
        lambda: _outcome(program.reference_outputs(host, limits=limits, host=_HOST)),
    )
    if limits is LIMITS:
        judged = _timed("judging", text, seconds, worst, lambda: judge(program, host, limits))
        assert len(judged.text) <= LONGEST_MESSAGE, f"a message of {len(judged.text)} characters"
    assert _peak_mb() - before < MEMORY_MB, f"{_peak_mb() - before:.0f} MB"
    if written is None or plain is None:
        return "budget"
    assert written == plain, f"generated code gave {written}, the plain evaluator {plain}"
    return "ended" if written[1] is None else "error"


def _compiled(text: str) -> Program | None:
    try:
        return compile_query(text)
    except InvalidExpressionError as error:
        _check(len(str(error)) <= 100 * len(text) + 10_000, "a long message")
        return None


def _outcome(outputs: Iterator[Any]) -> tuple[list[str], str | None] | None:
    """Outputs and the error; None when a budget ended it, because the two evaluators spend differently."""
    found: list[str] = []
    try:
        for number, output in enumerate(outputs):
            if number >= _MOST_PRINTED:
                found.append("")
                continue
            try:
                found.append(to_json(output, _printing()))
            except BudgetExceededError:
                found.append("large")
    except BudgetExceededError as error:
        _check(len(str(error)) <= LONGEST_MESSAGE, "a long message")
        return None
    except EvaluationError as error:
        _check(len(str(error)) <= LONGEST_MESSAGE, "a long message")
        _check(not str(error).startswith("internal error"), f"{type(error.__cause__).__name__} inside")
        return found, str(error)
    return found, None


def _check(holds: bool, otherwise: str) -> None:
    assert holds, otherwise


def _printing() -> Meter:
    return Meter(replace(SMALL_LIMITS, cells=3_000))


def _timed(what: str, text: str, seconds: float, worst: Worst | None, run: Any) -> Any:
    start = time.thread_time()
    result = run()
    took = time.thread_time() - start
    if worst is not None:
        worst.note(took, text)
    assert took < seconds, f"{what} took {took:.2f} s"
    return result


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description="Run hostile jq queries; say what became of them.")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--loops", action="store_true", help="every builtin in a loop instead, each COUNTth of them")
    parser.add_argument("--keep-going", action="store_true", help="tell every failure, not only the first")
    arguments = parser.parse_args()
    host, worst, real_worst = inventory(), Worst(), Worst()
    said: Counter[str] = Counter()
    failures = 0
    began, start_mb = time.process_time(), _peak_mb()
    texts = programs(arguments.seed, arguments.count)
    if arguments.loops:
        texts = islice(loops(), arguments.seed % arguments.count, None, arguments.count)
    for number, text in enumerate(texts):
        if arguments.loops or number % 100 == 0:
            faulthandler.dump_traceback_later(300, exit=True)  # one that never comes back says where it is
        real = arguments.loops or number % REAL_EVERY == 0
        try:
            if real:
                said[verdict(text, host, LIMITS, SECONDS, real_worst)] += 1
            else:
                said[verdict(text, host, SMALL_LIMITS, SMALL_SECONDS, worst)] += 1
        except KeyboardInterrupt:
            break
        except Exception as failure:
            failures += 1
            print(f"FAILED {number}: {text}\n    {type(failure).__name__}: {str(failure)[:500]}", flush=True)
            if not arguments.keep_going:
                break
    faulthandler.cancel_dump_traceback_later()
    took = time.process_time() - began
    verdicts = ", ".join(f"{count:,} {what}" for what, count in sorted(said.items()))
    print(
        f"seed {arguments.seed}: {sum(said.values()):,} programs in {took:.0f} s of CPU: {verdicts}; {failures} failed"
    )
    print(f"slowest, small budgets: {worst.seconds:.3f} s  {worst.program[:300]}")
    print(f"slowest, classification's budgets: {real_worst.seconds:.3f} s  {real_worst.program[:300]}")
    print(f"peak memory {_peak_mb():.0f} MB, {_peak_mb() - start_mb:.0f} MB above the start")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
