"""`muster jq 'QUERY' [FILE…]`: jq within budgets; `muster jq check QUERY` says what is wrong with a query.

The language is the library's: no environment, no modules, no `input`. Errors of one input do not stop the next. Limits
are wider than the library's, since whoever types the query also waits for it; `--limit NAME=NUMBER` sets them.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from muster.cli.terminal.commands import App, Group
from muster.cli.terminal.exits import Exit
from muster.errors import BudgetExceededError, EvaluationError, InvalidExpressionError, InvalidObjectError
from muster.jq import (
    HaltError,
    InvalidJsonError,
    Limits,
    Meter,
    Program,
    compile_query,
    decode_prefix,
    from_json,
    pretty_json,
    to_json,
)
from muster.source import Source
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


LIMITS = Limits(steps=50_000_000, cells=20_000_000, outputs=10_000_000, seconds=30.0)
_SETTINGS = ("steps", "cells", "depth", "outputs", "integer_bits", "seconds")


class _Statistics:
    """What `--stats` prints."""

    def __init__(self) -> None:
        self.compiled = 0.0
        self.started = 0.0
        self.inputs = self.outputs = self.steps = self.cells = 0

    def write(self, stream: TextIO) -> None:
        took = time.perf_counter() - self.started
        stream.write(
            f"compiled in {self.compiled * 1e3:.1f} ms; {self.inputs} inputs, {self.outputs} outputs, "
            f"{self.steps:,} steps, {self.cells:,} cells in {took * 1e3:.1f} ms\n"
        )


def _variables(texts: Sequence[str], values: Sequence[str]) -> JsonObject:
    """From NAME=TEXT and NAME=JSON."""
    variables: JsonObject = dict(_pair(text, "--arg") for text in texts)
    for value in values:
        name, text = _pair(value, "--argjson")
        try:
            variables[name] = from_json(text)
        except InvalidJsonError as fault:
            raise typer.BadParameter(f"${name}: {fault.message}", param_hint="--argjson") from None
    return variables


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter("give a name and a value", param_hint=option)
    return name, value


def _limits(settings: Sequence[str]) -> Limits:
    changed: JsonObject = {}
    for setting in settings:
        name, _, number = setting.partition("=")
        if name not in _SETTINGS:
            raise typer.BadParameter(f"no limit {name!r}; there are {', '.join(_SETTINGS)}", param_hint="--limit")
        try:
            changed[name] = float(number) if name == "seconds" else int(number)
        except ValueError:
            raise typer.BadParameter(f"{number!r} is not a number", param_hint="--limit") from None
    return dataclasses.replace(LIMITS, **changed)


def _texts(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    if not files:
        yield "<stdin>", sys.stdin.read()
    for file in files:
        try:
            yield file, Path(file).read_text(encoding="utf-8")
        except OSError as error:
            raise InvalidObjectError(file, (error.strerror or str(error)).lower()) from None
        except UnicodeDecodeError as error:
            raise InvalidObjectError(file, f"not UTF-8 text: {error.reason} at byte {error.start}") from None


def _inputs(files: Sequence[str]) -> Iterator[Json]:
    """Every JSON value of every file."""
    for name, text in _texts(files):
        at = 0
        while text[at:].strip(" \t\r\n"):
            try:
                value, at = decode_prefix(text, at)
            except InvalidJsonError as fault:
                line, column = Source(text).position(fault.offset)
                raise InvalidObjectError(f"{name}:{line}:{column + 1}", f"invalid json: {fault.message}") from None
            yield value


def _run_inputs(program: Program, inputs: Iterator[Json], variables: JsonObject, limits: Limits, shown: _Shown) -> Exit:
    """Run on every input; an error is told and the next input is taken."""
    outcome = Exit.OK
    for value in inputs:
        shown.statistics.inputs += 1
        meter = program.meter(limits)
        try:
            for output in program.metered(value, meter, variables):
                shown.write(output, meter)
        except HaltError as halt:
            return shown.halt(halt, meter)
        except EvaluationError as error:
            sys.stderr.write(f"muster: {error}\n")
            outcome = Exit.BAD_INPUT
        shown.statistics.steps += meter.steps_used
        shown.statistics.cells += meter.cells_used
    return outcome


class _Shown:
    """How outputs reach the terminal, and what the last of them was."""

    def __init__(self, *, raw: bool, compact: bool) -> None:
        self.raw = raw
        self.compact = compact
        self.last: Json = None
        self.statistics = _Statistics()

    def write(self, output: Json, meter: Meter) -> None:
        self.statistics.outputs += 1
        self.last = output
        if self.raw and isinstance(output, str):
            text = output.encode("utf-8", "replace").decode()
        else:
            text = to_json(output, meter) if self.compact else pretty_json(output, meter)
        sys.stdout.write(text + "\n")

    def halt(self, halt: HaltError, meter: Meter) -> Exit:
        if halt.value is None:
            return Exit.OK
        try:
            text = halt.value if isinstance(halt.value, str) else to_json(halt.value, meter) + "\n"
        except BudgetExceededError as error:
            text = f"muster: {error}\n"
        sys.stderr.write(text)
        return Exit.NO


class _JqGroup(Group):
    """`check` is a command; anything else that follows `muster jq` is the query of `run`.

    Typer has no options with two values, so `--arg NAME TEXT` is handed to it as `--arg NAME=TEXT`.
    """

    def parse_args(self, ctx: Json, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "--help", "-h"):
            args = ["run", *args]
        return super().parse_args(ctx, _joined_pairs(args))


def _joined_pairs(args: list[str]) -> list[str]:
    joined: list[str] = []
    at = 0
    while at < len(args):
        joined.append(args[at])
        if args[at] in ("--arg", "--argjson") and at + 2 < len(args) and args[0] == "run" and "=" not in args[at + 1]:
            joined.append(f"{args[at + 1]}={args[at + 2]}")
            at += 2
        at += 1
    return joined


app = App(cls=_JqGroup)


@app.callback()
def _jq() -> None:
    """Run jq queries within budgets: no query hangs or takes all memory.

    `muster jq QUERY` is short for `muster jq run QUERY`; `muster jq run --help` has the options.

    Examples:
      muster jq .metadata.name fleet/30-managedclusters.json
      muster jq -n '[range(5)] | add'
    """


@app.command()
def run(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The query.")],
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="Files of JSON values; standard input when left out.")
    ] = None,
    null_input: Annotated[bool, typer.Option("--null-input", "-n", help="Run once on null, read nothing.")] = False,
    raw_output: Annotated[bool, typer.Option("--raw-output", "-r", help="Print strings without quotes.")] = False,
    compact_output: Annotated[bool, typer.Option("--compact-output", "-c", help="One line per output.")] = False,
    slurp: Annotated[bool, typer.Option("--slurp", "-s", help="Read all inputs into one array.")] = False,
    exit_status: Annotated[
        bool, typer.Option("--exit-status", "-e", help="Exit with 1 when the last output is false, null or missing.")
    ] = False,
    arg: Annotated[
        list[str] | None, typer.Option("--arg", metavar="NAME VALUE", help="Bind $NAME to a string.")
    ] = None,
    argjson: Annotated[
        list[str] | None, typer.Option("--argjson", metavar="NAME JSON", help="Bind $NAME to a JSON value.")
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option("--limit", metavar="NAME=NUMBER", help=f"Set a budget: {', '.join(_SETTINGS)}."),
    ] = None,
    stats: Annotated[bool, typer.Option("--stats", help="Tell on standard error what the run took.")] = False,
) -> None:
    """Run a query on every JSON value of files, or of standard input. `run` itself may be left out.

    Examples:
      muster jq -r '.metadata.labels.cloud' fleet/30-managedclusters.json
      muster jq -n --arg name world '"hello " + $name'
      echo '[3, 1, 2]' | muster jq -c sort
    """
    variables = _variables(arg or (), argjson or ())
    limits = _limits(limit or ())
    shown = _Shown(raw=raw_output, compact=compact_output)
    began = time.perf_counter()
    program = compile_query(query, variables=tuple(variables))
    shown.statistics.started = time.perf_counter()
    shown.statistics.compiled = shown.statistics.started - began
    inputs: Iterator[Json] = iter((None,)) if null_input else _inputs(files or ())
    if slurp and not null_input:
        inputs = iter((list(inputs),))
    outcome = _run_inputs(program, inputs, variables, limits, shown)
    if stats:
        shown.statistics.write(sys.stderr)
    if exit_status and outcome is Exit.OK and (shown.last is None or shown.last is False):
        outcome = Exit.NO
    raise typer.Exit(int(outcome))


@app.command()
def check(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The query.")],
    arg: Annotated[
        list[str] | None, typer.Option("--arg", metavar="NAME", help="A variable that will be bound.")
    ] = None,
    reads: Annotated[
        bool, typer.Option("--reads", help="Also print which parts of its input the query can look at.")
    ] = False,
) -> None:
    """Say what is wrong with a query, with line and caret; nothing when it can run.

    Examples:
      muster jq check '.cpu.count >= 8'
      muster jq check --reads '.disks | map(.sizeBytes) | add'
    """
    try:
        program = compile_query(query, variables=arg or ())
    except InvalidExpressionError as error:
        sys.stderr.write(f"{error}\n")
        raise typer.Exit(int(Exit.BAD_INPUT)) from None
    if reads:
        for path in sorted(program.reads, key=repr):
            sys.stdout.write("." + "".join(f"[{step!r}]" for step in path) + "\n")
