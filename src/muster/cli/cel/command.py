"""`muster cel`: evaluate, check and explain expressions, list functions, measure. Works without a hub.

Variables come as `--var name=JSON` or `--var name=@file` (JSON or YAML, `@-` for standard input). One that the
environment does not declare is declared as dyn.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cel import (
    DEFAULT_COST_LIMIT,
    NAMES,
    Env,
    Program,
    Variable,
    check,
    displayed,
    environment,
    make_program,
    parse,
    show_path,
)
from muster.cel.checking.types import DYN
from muster.cel.costs.ranges import MAX
from muster.cel.values import check_input
from muster.cli.cel.show import explained, shown
from muster.cli.cel.testing import migrate_command, run_tables
from muster.cli.completion.answers import environments
from muster.cli.inputs.documents import read_documents
from muster.cli.terminal.commands import App
from muster.cli.terminal.exits import Exit
from muster.errors import EvaluationError, InvalidExpressionError, InvalidObjectError
from muster.values.json import Json, JsonMapping, JsonObject
from muster.values.yaml_reading import YamlError, YamlLimits, read_yaml

if TYPE_CHECKING:
    from collections.abc import Callable


_MOST_WRITTEN_OUT = 64 * 1024 * 1024  # bytes of a YAML file, with every alias replaced by what it stands for

app = App(help="Evaluate, check, explain and test CEL expressions.")
app.command("test")(run_tables)
app.command("migrate")(migrate_command)

Expression = Annotated[str, typer.Argument(metavar="EXPRESSION", help="The expression.")]
Variables = Annotated[
    list[str] | None, typer.Option("--var", metavar="NAME=VALUE", help="A variable: JSON, or @FILE with JSON or YAML.")
]
Environment = Annotated[
    str, typer.Option("--env", metavar="NAME", help=f"One of {', '.join(NAMES)}.", autocompletion=environments)
]
Limit = Annotated[int, typer.Option("--limit", metavar="COST", help="The cost limit of one evaluation.")]


def _read(place: str) -> Json:
    """A document from a file, or from standard input when the place is -."""
    try:
        text = sys.stdin.read() if place == "-" else Path(place).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidObjectError(place, f"cannot be read: {error.strerror}") from None
    try:
        if place.endswith(".json"):
            return json.loads(text)
        limits = YamlLimits(values=sys.maxsize, size=max(_MOST_WRITTEN_OUT, 2 * len(text)))
        document = read_yaml(text.encode(), limits)
        return None if document is None else document.value
    except (json.JSONDecodeError, RecursionError, YamlError) as error:
        raise InvalidObjectError(place, f"is neither JSON nor YAML: {error}") from None


def _variables(given: list[str] | None) -> JsonObject:
    variables: JsonObject = {}
    for item in given or ():
        name, equals, text = item.partition("=")
        if not equals or not name:
            raise InvalidObjectError(item, "is not of the form NAME=VALUE")
        if text.startswith("@"):
            value = _read(text[1:])
        else:
            try:
                value = json.loads(text)
            except json.JSONDecodeError:
                value = text  # a plain word needs no quotes
        check_input(value, name)
        variables[name] = value
    return variables


def _environment(name: str, variables: JsonMapping) -> Env:
    env = environment(name)
    return env.extend(variables=[Variable(given, DYN) for given in variables if given not in env.variables])


@app.command("eval")
def evaluate(
    expression: Expression,
    var: Variables = None,
    env: Environment = "muster",
    limit: Limit = DEFAULT_COST_LIMIT,
    profile: Annotated[bool, typer.Option("--profile", help="Time both back ends.")] = False,
) -> None:
    """Print the value of an expression, its type, its cost and what it reads.

    Examples:
      muster cel eval "[1, 2, 3].exists(n, n > 2)"
      muster cel eval "semver(v).isGreaterThan(semver('1.29.0'))" --var v=1.30.8
      muster cel eval "size(placement.spec.clusterSets)" --var placement=@examples/06-first-look/checkout.yaml
    """
    variables = _variables(var)
    program = make_program(expression, _environment(env, variables))
    value, cost = program.run(variables, limit)
    if isinstance(value, EvaluationError):
        typer.echo(f"error: {value}", err=True)
    else:
        typer.echo(f"{shown(value)} : {displayed(program.result_type)}")
    least, greatest = program.estimate()
    bound = "unbounded" if greatest >= MAX else f"{greatest:,}"
    typer.echo(f"cost      {cost:,} of {limit:,}; estimated {least:,} to {bound}")
    typer.echo(f"reads     {', '.join(sorted(map(show_path, program.reads))) or 'nothing'}")
    if profile:
        _profile(program, variables, limit)
    if isinstance(value, EvaluationError):
        raise typer.Exit(int(Exit.BAD_INPUT))


def _best(action: Callable[[], Json], seconds: float = 0.2) -> float:
    """The time of one call in microseconds, the best of many."""
    best = float("inf")
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        started = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - started)
    return best * 1e6


def _profile(program: Program, variables: JsonMapping, limit: int) -> None:
    compiling = _best(lambda: make_program(program.text, program.env))
    compiled = _best(lambda: program.run(variables, limit))
    interpreted = _best(lambda: program.trace(variables, limit))
    typer.echo(f"compile   {compiling / 1e3:.2f} ms")
    typer.echo(
        f"run       {compiled:.2f} µs compiled, {interpreted:.2f} µs interpreted ({interpreted / compiled:.0f} times)"
    )


@app.command("check")
def check_command(expression: Expression, var: Variables = None, env: Environment = "muster") -> None:
    """Say what is wrong with an expression, or what type it has.

    Examples:
      muster cel check "managedCluster.metadata.labels.cloud == 'Amazon'"
      muster cel check "1 + 'a'"
    """
    env_with_variables = _environment(env, _variables(var))
    try:
        checked = check(parse(expression, env_with_variables), env_with_variables)
    except InvalidExpressionError as error:
        typer.echo(str(error))
        raise typer.Exit(int(Exit.NO)) from None
    typer.echo(f"ok : {displayed(checked.result_type)}")


@app.command()
def explain(
    expression: Expression, var: Variables = None, env: Environment = "muster", limit: Limit = DEFAULT_COST_LIMIT
) -> None:
    """Print the value or error of every part of an expression.

    Examples:
      muster cel explain "n > 1 && n % 2 == 0" --var n=4
      muster cel explain "a.b.startsWith('x')" --var 'a={"b": "xyz"}'
    """
    variables = _variables(var)
    program = make_program(expression, _environment(env, variables))
    trace = program.trace(variables, limit)
    for line in explained(program.tree, trace):
        typer.echo(line)
    typer.echo(f"cost {trace.cost:,}")
    if trace.failed:
        raise typer.Exit(int(Exit.BAD_INPUT))


@app.command()
def functions(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Only functions whose name contains this.")] = None,
    env: Environment = "muster",
) -> None:
    """List functions and macros with their signatures, what they do, and examples.

    Examples:
      muster cel functions
      muster cel functions semver
      muster cel functions --env standard
    """
    chosen = environment(env)
    entries = [(function.name, function) for function in chosen.functions.values()]
    found = sorted((entry for entry in entries if name is None or name in entry[0]), key=lambda entry: entry[0])
    for function_name, function in found:
        if name is None:
            typer.echo(f"{function_name:28} {function.doc.partition('. ')[0].rstrip('.')}")
            continue
        typer.echo(function_name)
        typer.echo(f"    {function.doc}")
        for overload in function.overloads:
            args = [displayed(arg) for arg in overload.args]
            call = (
                f"{args[0]}.{function_name}({', '.join(args[1:])})"
                if overload.member
                else (f"{function_name}({', '.join(args)})")
            )
            typer.echo(f"    {call} -> {displayed(overload.result)}")
        for text, value in function.examples.items():
            typer.echo(f"    {text}  // {shown(value)}")
    macros = {macro.name: macro for macro in chosen.macros.values() if name is None or name in macro.name}
    for macro in sorted(macros.values(), key=lambda macro: macro.name):
        typer.echo(f"{macro.name:28} (macro) {macro.doc}")
    if not found and not macros:
        typer.echo(f"no function or macro of '{env}' is called like '{name}'", err=True)
        raise typer.Exit(int(Exit.NO))


@app.command()
def repl(var: Variables = None, env: Environment = "muster", limit: Limit = DEFAULT_COST_LIMIT) -> None:
    """Evaluate expressions as they are typed, with history and completion; `name = EXPRESSION` keeps a value.

    Examples:
      echo "1 + 1" | muster cel repl
      echo "n * 2" | muster cel repl --var n=21
    """
    variables = _variables(var)
    _complete(lambda: [*_environment(env, variables).functions, *_environment(env, variables).variables])
    while True:
        try:
            line = input("cel> ").strip()
        except EOFError:
            typer.echo()
            return
        except KeyboardInterrupt:
            typer.echo()
            continue
        if line in {"exit", "quit"}:
            return
        if line:
            _interact(line, variables, env, limit)


def _interact(line: str, variables: JsonObject, env: str, limit: int) -> None:
    """One line of the dialogue; what goes wrong is shown, and the dialogue goes on."""
    name, equals, rest = line.partition("=")
    assigns = bool(equals) and name.strip().isidentifier() and not rest.startswith("=")
    try:
        program = make_program(rest.strip() if assigns else line, _environment(env, variables))
        value, cost = program.run(variables, limit)
    except InvalidExpressionError as error:
        typer.echo(str(error), err=True)
        return
    if isinstance(value, EvaluationError):
        typer.echo(f"error: {value}  (cost {cost:,})", err=True)
        return
    if assigns:
        variables[name.strip()] = value
    typer.echo(f"{shown(value)} : {displayed(program.result_type)}  (cost {cost:,})")


def _complete(words: Callable[[], list[str]]) -> None:
    """History and completion, where the terminal library is at hand."""
    try:
        import readline
    except ImportError:
        return

    def completion(text: str, state: int) -> str | None:
        matching = sorted(word for word in words() if word.startswith(text) and word[0].isalpha())
        return matching[state] if state < len(matching) else None

    readline.set_completer(completion)
    readline.parse_and_bind("tab: complete")


def _objects(over: str) -> list[Json]:
    """The objects of a fleet, or the items of a list of anything."""
    try:
        return [document.object for document in read_documents([over])]
    except InvalidObjectError:
        found = _read(over)
    if isinstance(found, dict):
        found = found.get("items")
    if not isinstance(found, list) or not found:
        raise InvalidObjectError(over, "is not a list of objects")
    return found


@app.command()
def bench(
    expression: Expression,
    over: Annotated[
        str,
        typer.Option("--over", metavar="FILE", help="Objects: a fleet as `select` takes it, or a list of anything."),
    ],
    bound: Annotated[
        str, typer.Option("--as", metavar="NAME", help="The variable each object becomes.")
    ] = "managedCluster",
    env: Environment = "muster",
    limit: Limit = DEFAULT_COST_LIMIT,
) -> None:
    """Evaluate an expression over many objects and say how long it took and what came out.

    Examples:
      muster cel bench "managedCluster.metadata.name.startsWith('a')" --over fleet/30-managedclusters.json
      muster cel bench "host.cpu > 8" --as host --over hosts.json
    """
    inputs = [{bound: item} for item in _objects(over)]
    program = make_program(expression, _environment(env, inputs[0]))
    started = time.perf_counter()
    results = [program.run(variables, limit) for variables in inputs]
    took = time.perf_counter() - started
    counts: dict[str, int] = {}
    for value, _ in results:
        word = "error" if isinstance(value, EvaluationError) else shown(value)
        counts[word] = counts.get(word, 0) + 1
    common = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:8]
    typer.echo(f"{len(inputs):,} evaluations in {took * 1e3:.1f} ms: {took / len(inputs) * 1e6:.2f} µs each")
    typer.echo(f"cost      {max(cost for _, cost in results):,} at most")
    typer.echo(f"results   {', '.join(f'{word} {count:,}' for word, count in common)}")
