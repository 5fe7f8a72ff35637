"""The CEL libraries of PyPI over the same clusters: run by benchmarks/cel.py with a Python that has them.

Reads {"expressions": …, "clusters": …} from the file named by the argument and prints microseconds of CPU time per
evaluation and matches, per library and expression. None of them has Kubernetes' functions, so semver, scores and
parseJSON are functions in Python here; where a library cannot express that, its place stays empty. Conversion of the
input is part of the time, as each of them needs its own form of it.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLE = {"cel-expr-python": 2000, "cel-python": 150, "common-expression-language": 500}
# Semver without an opaque type: the comparison as one function.
REWRITTEN = {"semver": 'semverGreater(managedCluster.status.version.kubernetes, "v1.30.0")'}


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in str(text).removeprefix("v").split("-")[0].split("."))


def semver_greater(left: str, right: str) -> bool:
    return _version(left) > _version(right)


def scores(cluster: Any, name: str) -> Any:
    return cluster["@scores"][name]


def _timed(evaluate: Callable[[Any], Any], clusters: list[Any], repeats: int = 3) -> dict[str, Any]:
    best, matches = float("inf"), 0
    for _ in range(repeats):
        started = time.process_time()
        matches = sum(evaluate(cluster) is True for cluster in clusters)
        best = min(best, (time.process_time() - started) / len(clusters) * 1e6)
    return {"micros": best, "matches": matches, "sample": len(clusters)}


def cel_expr_python(expression: str) -> Callable[[Any], Any]:
    cel = importlib.import_module("cel_expr_python.cel")

    kinds = cel.Type
    overload = cel.Overload
    env = cel.NewEnv(
        variables={"managedCluster": kinds.DYN},
        functions=[
            cel.FunctionDecl(
                "semverGreater", [overload("g", kinds.BOOL, [kinds.STRING, kinds.STRING], impl=semver_greater)]
            ),
            cel.FunctionDecl(
                "scores", [overload("s", kinds.List(kinds.DYN), [kinds.MAP, kinds.STRING], is_member=True, impl=scores)]
            ),
            cel.FunctionDecl("parseJSON", [overload("p", kinds.DYN, [kinds.STRING], is_member=True, impl=json.loads)]),
        ],
    )
    program = env.compile(expression)
    return lambda cluster: program.eval(data={"managedCluster": cluster}).value()


def cel_python(expression: str) -> Callable[[Any], Any]:
    celpy = importlib.import_module("celpy")

    env = celpy.Environment()
    functions = {
        "semverGreater": lambda left, right: celpy.celtypes.BoolType(semver_greater(left, right)),
        "scores": scores,
        "parseJSON": lambda text: celpy.json_to_cel(json.loads(text)),
    }
    program = env.program(env.compile(expression), functions=functions)
    return lambda cluster: bool(program.evaluate({"managedCluster": celpy.json_to_cel(cluster)}))


def common_expression_language(expression: str) -> Callable[[Any], Any]:
    cel = importlib.import_module("cel")

    program = cel.compile(expression)

    def evaluate(cluster: Any) -> Any:
        context = cel.Context(variables={"managedCluster": cluster})
        context.add_function("semverGreater", semver_greater)
        context.add_function("scores", scores)
        context.add_function("parseJSON", json.loads)
        return program.execute(context)

    return evaluate


PEERS = {
    "cel-expr-python": cel_expr_python,
    "cel-python": cel_python,
    "common-expression-language": common_expression_language,
}


def main() -> None:
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    results: dict[str, dict[str, Any]] = {}
    for peer, prepare in PEERS.items():
        clusters = given["clusters"][: SAMPLE[peer]]
        for name, expression in given["expressions"].items():
            try:
                evaluate = prepare(REWRITTEN.get(name, expression))
                evaluate(clusters[0])
                results.setdefault(peer, {})[name] = _timed(evaluate, clusters)
            except Exception as error:
                results.setdefault(peer, {})[name] = {"error": f"{type(error).__name__}: {str(error)[:80]}"}
    print(json.dumps(results))


if __name__ == "__main__":
    main()
