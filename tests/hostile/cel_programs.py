"""CEL programs as an enemy would write them, generated over every function, operator and macro of an environment.

    python -m tests.hostile.cel_programs --count 100000 --seed 1

Arguments are graphs that hold themselves 2^40 times, texts that double, wrong types behind dyn(), numbers at the ends
of their ranges, and deep nesting. `run` compiles and evaluates one in both back ends, within the ordinary limits, over
a realistic ManagedCluster. Whatever happens must be a value, an error of the language, or a refusal to compile, within
the CPU time and memory of one program.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from muster.cel import Variable, environment, make_program, unparse
from muster.cel.checking.types import ANY, DYN, STRING, list_of, map_of
from muster.cel.libraries.ocm_sizes import managed_cluster_sizes
from muster.cel.traversals import value_text
from muster.errors import EvaluationError, InvalidExpressionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel import Env, Program

ENVIRONMENTS = ("muster", "ocm", "olm", "standard", "kubernetes-1.37", "kubernetes-1.28")
COST_LIMIT = 1_000_000
CPU_SECONDS = 2.0  # of compiling one program and running it twice; wide, as machines are shared
PROGRESS = 5000  # programs between two lines
LONGEST_REFUSAL = 400_000  # characters
MEMORY_KIB = 300 * 1024  # of a whole run beyond its start

CLUSTER: dict[str, Any] = {
    "apiVersion": "cluster.open-cluster-management.io/v1",
    "kind": "ManagedCluster",
    "metadata": {
        "name": "cluster-17",
        "labels": {"env": "prod", "region": "eu-west-1", "version": "1.31.4", **{f"l{n}": f"v{n}" for n in range(40)}},
        "annotations": {"note": "x" * 60_000, "json": '{"a": [' + "1, " * 2000 + "2]}", "deep": "[" * 900 + "]" * 900},
        "creationTimestamp": "2026-01-01T00:00:00Z",
    },
    "spec": {"hubAcceptsClient": True, "leaseDurationSeconds": 60, "taints": [{"key": "a", "effect": "NoSelect"}] * 10},
    "status": {
        "version": {"kubernetes": "v1.31.4"},
        "clusterClaims": [{"name": f"claim-{n}", "value": f"{n}" * 20} for n in range(100)],
        "capacity": {"cpu": "64", "memory": "1Ti", "pods": "9" * 5000},
        "conditions": [{"type": "Available", "status": "True"}] * 3,
    },
    "@scores": {"default": [{"name": f"score-{n}", "value": n} for n in range(50)]},
}
PROPERTIES: list[Any] = [
    {"type": "olm.package", "value": {"packageName": f"p{n}", "version": "1.2.3"}} for n in range(50)
]
VARIABLES: dict[str, Any] = {"managedCluster": CLUSTER, "properties": PROPERTIES}

SCALARS = (
    *("null", "true", "false", "0", "1", "-1", "2", "9223372036854775807", "-9223372036854775808", "0u"),
    *("18446744073709551615u", "0.0", "-0.0", "1.5", "1e308", "-1e308", "5e-324", "(0.0/0.0)", "(1.0/0.0)"),
    *("''", "'a'", "'a b'", "'1'", "'1.2.3'", "'v1.2'", "'10.0.0.0/8'", "'::1'", "'1Gi'", "'1e99999'", "'[1,{}]'"),
    *("'%s %d %.3f'", "'%.999f'", "'%x%s'", "'(a|b)*c'", "'a{1,1000}'", "'(\\\\pL{1,20}){1,20}'", "'('", "'\\\\pL'"),
    *(
        "'Europe/Berlin'",
        "'Nowhere/X'",
        "'+99:99'",
        "'2030-01-01T00:00:00+24:00'",
        "'9999-12-31T23:59:59Z'",
        "'é\\u2028'",
    ),
    *("b''", "b'\\xff'", "b'abc'", "'https://a.b/c?d=e&d=f'", "'1h1h1h'", "'99999999999999999999h'", "'YWJj'"),
    *("duration('1s')", "duration('2562047h47m16.854775807s')", "timestamp('0001-01-01T00:00:00Z')"),
    *("timestamp('9999-12-31T23:59:59.999999999Z')", "timestamp(0)", "int", "type(1)", "[].map(x, x)", "{}"),
)
INPUTS = (
    *("managedCluster", "managedCluster.metadata", "managedCluster.metadata.labels", "managedCluster.metadata.name"),
    *("managedCluster.metadata.annotations", "managedCluster.metadata.annotations.note", "managedCluster.spec.taints"),
    *("managedCluster.metadata.annotations.json", "managedCluster.metadata.annotations.deep", "managedCluster.nope"),
    *(
        "managedCluster.status.clusterClaims",
        "managedCluster.status.capacity.pods",
        "managedCluster.metadata.labels.env",
    ),
    *("managedCluster.status.conditions", "managedCluster.spec.leaseDurationSeconds", "managedCluster.status.capacity"),
)
LARGE = (
    *(
        "[[1]]{.map(a, [a, a])}",
        "['ab']{.map(a, [a, a])}",
        "[{'k': 'v'}]{.map(a, {'x': a, 'y': a})}",
        "[1]{.map(a, [a])}",
    ),
    *(
        "[['x']]{.map(a, a + a)}",
        "['0123456789']{.map(a, a + a)}",
        "[b'0123']{.map(a, a + a)}",
        "[1.5]{.map(a, a * a)}",
    ),
    *(
        "['a']{.map(a, a.replace('a', 'aaaaaaaa'))}",
        "['a']{.map(a, [a, a, a, a].join(a))}",
        "[[1, 2]]{.map(a, [[a], a])}",
    ),
    *(
        "['%s']{.map(a, a.format([[a, a]]))}",
        "[1]{.map(a, [optional.of(a), optional.of(a)])}",
        "['x']{.map(a, [a, a] + [a])}",
    ),
    *("[b'x']{.map(a, bytes(base64.encode(a)))}", "['ab']{.map(a, json.encode([a, a]))}", "[7]{.map(a, a * 3)}"),
)
RANGES = (
    "lists.range(1000)",
    "lists.range(100000)",
    "lists.range(9223372036854775807)",
    "managedCluster.status.clusterClaims",
)
BINARY = ("+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "in")
FOLDS = (
    *("{0}.all(x, {1})", "{0}.exists(x, {1})", "{0}.exists_one(x, {1})", "{0}.map(x, {1})", "{0}.filter(x, {1})"),
    *("{0}.map(x, {2}, {1})", "{0}.sortBy(x, {1})", "{0}.all(x, y, {1})", "{0}.transformList(x, y, {1})"),
    *("{0}.transformMap(x, y, {1})", "{0}.transformMapEntry(x, y, {{x: {1}}})", "{0}.exists(x, y, {1})"),
    *("{0}.optMap(x, {1})", "{0}.optFlatMap(x, {1})", "cel.bind(x, {0}, {1})", "cel.bind(x, {0}, [x, x, {1}])"),
)
SHAPES = (
    *("[{0}, {1}]", "{{'a': {0}, 'b': {1}}}", "{{{0}: {1}}}", "[?{0}]", "{{?'a': {0}}}", "[?optional.of({0}), {1}]"),
    *("{0} ? {1} : {2}", "{0}[{1}]", "{0}[?{1}]", "{0}.x", "{0}.?x.?y", "has({0}.x)", "optional.of({0})", "dyn({0})"),
    *(
        "!{0}",
        "-{0}",
        "{0}.orValue({1})",
        "{0}.or({1})",
        "optional.of({0}) == optional.of({1})",
        "[{0}][0]",
        "type({0})",
    ),
    *("[?dyn({0})] == []", "{{?'a': dyn({0})}} == {{}}", "{0} in [{1}, {2}]", "{0} == {0}", "'%s'.format([{0}]) == ''"),
    *(
        "json.encode({0}) == ''",
        "sets.contains([{0}], [{0}])",
        "[{0}, {0}, {1}].distinct()",
        "semver_compare({0}, {1})",
    ),
)


class _Writer:
    """Writes one program. All of it follows from the generator of random numbers."""

    def __init__(self, pick: random.Random, env_name: str) -> None:
        self.pick = pick
        self.calls = _calls(env_name)
        self.pieces = _pieces(env_name)

    def value(self, depth: int) -> str:
        """Any expression; the deeper, the plainer."""
        pick = self.pick
        kind = pick.random()
        if depth <= 0 or kind < 0.10:
            return self.leaf()
        if kind < 0.45:
            return self.call(depth)
        if kind < 0.55:
            return f"({self.argument(depth)} {pick.choice(BINARY)} {self.argument(depth)})"
        if kind < 0.70:
            step = (
                self.argument(depth)
                if pick.random() < 0.5
                else pick.choice(("x", "[x, x]", "{'k': x}", "x == x", "x + x"))
            )
            return pick.choice(self.pieces["folds"]).format(self.argument(depth), step, self.argument(depth))
        if kind < 0.96:
            return pick.choice(self.pieces["shapes"]).format(self.argument(depth), self.argument(depth), self.leaf())
        return self.deep()

    def argument(self, depth: int) -> str:
        text = self.value(depth - 1)
        return f"dyn({text})" if self.pick.random() < 0.75 else text

    def leaf(self) -> str:
        kind = self.pick.random()
        if kind < 0.45:
            return self.pick.choice(self.pieces["scalars"])
        if kind < 0.65:
            return self.pick.choice(INPUTS)
        if kind < 0.70:
            return self.pick.choice(self.pieces["ranges"])
        return self.large()

    def large(self) -> str:
        """A value that is small to write and huge to walk over."""
        start, _, step = self.pick.choice(self.pieces["large"]).partition("{.")
        text = start + f".{step[:-1]}" * self.pick.choice((1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 6, 30))
        return f"{text}[0]" if self.pick.random() < 0.5 else text

    def call(self, depth: int) -> str:
        name, member, count = self.pick.choice(self.calls)
        args = [self.argument(depth) for _ in range(count)]
        return f"{args[0]}.{name}({', '.join(args[1:])})" if member else f"{name}({', '.join(args)})"

    def deep(self) -> str:
        """Nesting, and chains that grow when they are compiled."""
        pick = self.pick
        times = pick.choice((1, 2, 2, 2, 3, 3, 4, 5, 6, 9, 13, 60, 240))
        inner = self.leaf()
        shape = pick.randrange(8)
        if shape == 0:
            return "[" * times + inner + "]" * times
        if shape == 1:
            return f"optional.of({inner})" + ".optMap(x, x + x)" * min(times, 60)
        if shape == 2:
            return f"optional.of({inner})" + ".optFlatMap(x, optional.of(x))" * min(times, 60)
        if shape == 3:
            text = f"v{times}"
            for index in range(times, 0, -1):
                made = pick.choice(
                    (f"[v{index - 1}, v{index - 1}]", f"{{v{index - 1}: v{index - 1}}}", f"v{index - 1} + v{index - 1}")
                )
                text = f"cel.bind(v{index}, {made}, {text})"
            return f"cel.bind(v0, {inner}, {text})"
        if shape == 4:
            return f"({' || '.join(f'{inner}.matches({chr(39)}a{{1,500}}{n}{chr(39)})' for n in range(times))})"
        if shape == 5:
            return "true ? 1 : " * times + inner
        if shape == 6:
            return f"parseJSON('{'[' * times}{']' * times}')"
        return f"{inner}{'.map(x, [x])' * min(times, 60)}"


@lru_cache(maxsize=len(ENVIRONMENTS))
def _calls(env_name: str) -> tuple[tuple[str, bool, int], ...]:
    """The functions of an environment that a text can name: name, whether it is a method, number of arguments."""
    return tuple(
        sorted(
            {
                (function.name, overload.member, len(overload.args))
                for function in environment(env_name).functions.values()
                for overload in function.overloads
                if "@" not in function.name and function.name[0].isalpha()
            }
        )
    )


@lru_cache(maxsize=len(ENVIRONMENTS))
def _pieces(env_name: str) -> dict[str, tuple[str, ...]]:
    """What of the tables an environment understands: a macro that it does not have would only be refused."""

    def usable(text: str) -> bool:
        try:
            make_program(text, _environment(env_name))
        except InvalidExpressionError:
            return False
        return True

    filled = ("dyn(1)", "dyn(1)", "dyn(1)")
    return {
        "folds": tuple(text for text in FOLDS if usable(text.format(*filled))),
        "shapes": tuple(text for text in SHAPES if usable(text.format(*filled))),
        "large": tuple(text for text in LARGE if usable(text.replace("{.", ".")[:-1])),
        "scalars": tuple(filter(usable, SCALARS)),
        "ranges": tuple(filter(usable, RANGES)),
    }


def programs(seed: int, count: int) -> Iterator[str]:
    """So many programs, always the same for a seed, written with the functions of every environment in turn."""
    for index in range(count):
        pick = random.Random(f"{seed}/{index}")
        yield _Writer(pick, ENVIRONMENTS[index % len(ENVIRONMENTS)]).value(pick.choice((1, 1, 1, 2)))


@lru_cache(maxsize=len(ENVIRONMENTS))
def _environment(name: str) -> Env:
    known = environment(name)
    variables = {
        "managedCluster": Variable("managedCluster", map_of(STRING, DYN)),
        "properties": Variable("properties", list_of(map_of(STRING, ANY))),
    }
    return known.extend(variables=[each for key, each in variables.items() if key not in known.variables])


def run(text: str, environment_name: str) -> str:
    """'value', 'error' or 'refused'; AssertionError with the program for everything else."""
    started = time.thread_time()
    try:
        verdict = _verdict(text, environment_name)
    except AssertionError:
        raise
    except BaseException as fault:
        raise AssertionError(f"{type(fault).__name__}: {fault} of {environment_name}: {text}") from fault
    taken = time.thread_time() - started
    assert taken <= CPU_SECONDS, f"took {taken:.1f} s of CPU in {environment_name}: {text}"
    return verdict


def _verdict(text: str, environment_name: str) -> str:
    try:
        program = make_program(text, _environment(environment_name))
    except InvalidExpressionError as refusal:
        if len(str(refusal)) > LONGEST_REFUSAL:
            raise AssertionError(f"a refusal without end in {environment_name}: {text}") from None
        return "refused"
    outcome, _ = program.run(VARIABLES, COST_LIMIT)
    trace = program.trace(VARIABLES, COST_LIMIT)
    if len(text) % 4 == 0:  # these ask for much the same each time
        _look_at(program, trace.values)
    failed = isinstance(outcome, EvaluationError)
    if failed:
        assert len(str(outcome)) < 10_000, f"an error without end in {environment_name}: {text}"
    if "cancelled" not in f"{outcome if failed else ''}{trace.outcome if trace.failed else ''}":
        assert failed == trace.failed, f"the back ends disagree in {environment_name}: {text}"
        assert not failed or str(outcome) == str(trace.outcome), f"the back ends disagree in {environment_name}: {text}"
    return "error" if failed else "value"


def _look_at(program: Program, values: Any) -> None:
    """What admission, explanations and mirrors ask of a program beside its value."""
    program.estimate(managed_cluster_sizes)
    _ = program.reads
    unparse(program.tree)
    for seen in list(values.values())[:20]:
        value_text(seen[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    verdicts: Counter[str] = Counter()
    slowest = (0.0, "", "")
    failures = 0
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for index, text in enumerate(programs(options.seed, options.count)):
        name = ENVIRONMENTS[index % len(ENVIRONMENTS)]
        before = time.thread_time()
        try:
            verdicts[run(text, name)] += 1
        except AssertionError as failure:
            failures += 1
            print(f"FAILED program {index} of seed {options.seed}: {failure}", flush=True)
        slowest = max(slowest, (time.thread_time() - before, name, text))
        if (index + 1) % PROGRESS == 0:
            print(f"{index + 1} programs, {failures} failed", flush=True)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start
    if grown > MEMORY_KIB:
        failures += 1
        print(f"FAILED: memory grew by {grown // 1024} MiB")
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    print(f"seed {options.seed}, {options.count} programs: {counts}, {failures} failed")
    print(f"slowest {slowest[0]:.2f} s of CPU in {slowest[1]}: {slowest[2][:300]}")
    print(f"peak memory grew by {grown // 1024} MiB; CPU {time.process_time():.0f} s in all")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
