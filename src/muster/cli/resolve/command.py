"""`muster resolve`: which operators to install, from catalogs in files, and why; or why there is no answer."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import msgspec
import typer

from muster.cli.inputs.catalogs import read_catalogs
from muster.cli.inputs.documents import load_one
from muster.cli.resolve.checks import constraints_command, lint_command
from muster.cli.resolve.output import Output, drawn, failure_lines, fault_lines, plan_lines, print_value
from muster.cli.terminal.commands import App
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import yaml_text
from muster.errors import InvalidObjectError
from muster.reasons import Code, Reason, sentence
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.resolution import Catalog, Impossible, Installed, Outcome, Property, Request, Resolved, Want
    from muster.resolution.telling.lock import Lock

app = App()

_DEFAULT_LIMIT = 30.0
_MOST_MEANT, _FEW = 3, 10
Choice = TypeVar("Choice", bound=StrEnum)


_Catalogs = Annotated[
    list[str] | None,
    typer.Option(
        "--catalog",
        "-c",
        metavar="[NAME=]PATH",
        help="Catalog: file or directory; several are taken.",
        show_default=False,
    ),
]


@app.callback(invoke_without_command=True)
def resolve_command(
    context: typer.Context,
    catalog: _Catalogs = None,
    want: Annotated[
        list[str] | None,
        typer.Option(
            "--want",
            "-w",
            metavar="PACKAGE",
            help="PACKAGE, PACKAGE@RANGE, PACKAGE:CHANNEL or PACKAGE@RANGE:CHANNEL.",
            show_default=False,
        ),
    ] = None,
    starting: Annotated[
        list[str] | None,
        typer.Option(
            "--starting",
            metavar="PACKAGE=BUNDLE",
            help="The bundle, or =VERSION, to begin with if none is installed.",
            show_default=False,
        ),
    ] = None,
    installed: Annotated[
        str,
        typer.Option(
            "--installed", metavar="FILE", help="What is installed: a list, or a lock file.", show_default=False
        ),
    ] = "",
    priority: Annotated[
        list[str] | None,
        typer.Option("--priority", metavar="NAME=NUMBER", help="Priority of a catalog.", show_default=False),
    ] = None,
    fact: Annotated[
        list[str] | None,
        typer.Option(
            "--fact", metavar="TYPE=VALUE", help="A property of the cluster, value as YAML.", show_default=False
        ),
    ] = None,
    optional: Annotated[
        str,
        typer.Option(
            "--optional", metavar="install|only-if-present|ignore", help="What to do with optional requirements."
        ),
    ] = "install",
    compat: Annotated[
        str, typer.Option("--compat", metavar="olm-v0", help="Decide as olm-v0 does.", show_default=False)
    ] = "",
    lock: Annotated[
        str,
        typer.Option(
            "--lock", metavar="FILE", help="Write the plan here; print what changed since.", show_default=False
        ),
    ] = "",
    locked: Annotated[bool, typer.Option("--locked", help="Take exactly what --lock says, or fail.")] = False,
    explain: Annotated[
        str,
        typer.Option(
            "--explain", metavar="PACKAGE", help="Why this version of a package, why not another.", show_default=False
        ),
    ] = "",
    graph: Annotated[
        str,
        typer.Option(
            "--graph", metavar="FILE", help="Write a picture: FILE.svg, FILE.mmd, or - for Mermaid.", show_default=False
        ),
    ] = "",
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="Seconds to decide in.")
    ] = _DEFAULT_LIMIT,
    strict: Annotated[bool, typer.Option("--strict", help="Fail if anything in the catalogs cannot be used.")] = False,
    output: Annotated[Output, typer.Option("--output", "-o", help="How to print.")] = Output.TREE,
) -> None:
    """Find operators that work together, and say why. Exits with 0 for a plan, 1 if there is none or time was up, 2
    for bad input.

    Examples:
      muster resolve -c examples/03-resolve-operators/catalog.yaml -w shop
      muster resolve -c examples/03-resolve-operators/catalog.yaml -w shop --explain shop
      muster resolve -c examples/03-resolve-operators/catalog.yaml -w shop --lock operators.lock
    """
    if context.invoked_subcommand is not None:
        return
    from muster.resolution import Impossible, Resolved, resolve
    from muster.resolution.telling.lock import locked_request

    request = _request(_all(catalog), _all(want), installed, _all(priority), _all(fact), optional, compat)
    request = replace(request, wants=_starting(request.wants, _all(starting)))
    if strict and (faults := [fault for each in request.catalogs for fault in each.faults]):
        raise InvalidObjectError("", "; ".join(map(str, faults)))
    old_lock = _old_lock(lock) if lock else None
    if locked:
        if old_lock is None:
            raise InvalidObjectError(lock or "--locked", "there is no lock file to go by")
        request = locked_request(request, old_lock)
    deadline = time.monotonic() + time_limit
    outcome = resolve(request, lambda: time.monotonic() < deadline)
    for line in fault_lines([fault for each in request.catalogs for fault in each.faults]):
        sys.stderr.write(line + "\n")
    if strict and isinstance(outcome, Resolved | Impossible) and outcome.problem.faults:
        raise InvalidObjectError("", "; ".join(map(str, outcome.problem.faults)))
    if graph == "-" and isinstance(outcome, Resolved):
        sys.stdout.write(drawn(outcome.plan, graph))
    else:
        _print_outcome(outcome, output, explain, time_limit)
    if not isinstance(outcome, Resolved):
        raise typer.Exit(int(Exit.NO))
    if graph and graph != "-":
        _write(graph, drawn(outcome.plan, graph))
    if lock and not locked:
        _write_lock(outcome, lock, old_lock)


def _all(given: list[str] | None) -> list[str]:
    """The values of an option that may be given several times."""
    return given if given is not None else []


def _request(
    catalogs: Iterable[str],
    wants: Iterable[str],
    installed: str,
    priorities: Iterable[str],
    facts: Iterable[str],
    optional: str,
    compat: str,
) -> Request:
    from muster.resolution import Dialect, OptionalPolicy, Request, parse_want
    from muster.resolution.from_object import bound, completed

    built = [each.build() for each in read_catalogs(catalogs, priorities)]
    parsed = [parse_want(text) for text in wants]
    if not built:
        raise InvalidObjectError("--catalog", "say where to choose from: --catalog FILE or directory")
    _say_what_is_unknown(parsed, built)
    if not parsed and not installed:
        raise InvalidObjectError("--want", "say what is wanted: --want package[@range][:channel]")
    names = [want.name for want in parsed]
    parsed = [replace(want, name=str(want)) if names.count(want.name) > 1 else want for want in dict.fromkeys(parsed)]
    present = completed(_installed(installed), built) if installed else ()
    return Request(
        catalogs=tuple(built),
        wants=bound(parsed, present),
        installed=present,
        facts=tuple(map(_fact, facts)),
        optional=_choice(OptionalPolicy, optional, "--optional"),
        dialect=_choice(Dialect, compat, "--compat") if compat else Dialect.MUSTER,
    )


def _say_what_is_unknown(wants: Sequence[Want], catalogs: Sequence[Catalog]) -> None:
    """A package that no catalog has: those whose names contain it, or all if they are few.

    Why it cannot be had is told by the story, which also knows names that are spelt alike.
    """
    from muster.values.nearest import nearest

    known = sorted({name for each in catalogs for name in each.by_package})
    for name in sorted({want.package for want in wants} - set(known)):
        if nearest(name, known):
            continue
        close = [each for each in known if name.lower() in each.lower()][:_MOST_MEANT]
        few = (
            f"; there are {', '.join(known)}" if len(known) <= _FEW else f"; the catalogs have {len(known):,} packages"
        )
        hint = f": did you mean {' or '.join(close)}?" if close else few
        sys.stderr.write(f"no catalog has a package {name!r}{hint}\n")


def _starting(wants: tuple[Want, ...], texts: Iterable[str]) -> tuple[Want, ...]:
    """The wants, some with the bundle to begin with."""
    begins: dict[str, str] = {}
    for text in texts:
        package, equals, bundle = text.partition("=")
        if not equals or not bundle or package not in {want.package for want in wants}:
            raise InvalidObjectError("--starting", f"{text!r} is not PACKAGE=BUNDLE of a package that is wanted")
        begins[package] = bundle
    return tuple(replace(want, starting=begins.get(want.package, "")) for want in wants)


def _choice(kind: type[Choice], text: str, option: str) -> Choice:
    if text not in list(kind):
        raise InvalidObjectError(option, f"{text!r} is none of {', '.join(kind)}")
    return kind(text)


def _fact(text: str) -> Property:
    from muster.resolution import Property
    from muster.values.yaml_reading import YamlError, YamlLimits, read_yaml

    name, equals, value = text.partition("=")
    if not name or not equals:
        raise InvalidObjectError("--fact", f"{text!r} is not TYPE=VALUE")
    try:
        document = read_yaml(value.encode(), YamlLimits())
    except YamlError as error:
        raise InvalidObjectError("--fact", f"the value of {name} is not valid YAML: {error}") from error
    read = None if document is None else document.value
    if isinstance(read, float) and str(read) != value.strip():  # 1.30 is a version to people, and 1.3 to YAML
        sys.stderr.write(f"warning: --fact {text} is the number {read}; a version is written {name}='\"{value}\"'\n")
    return Property(name, read)


def _installed(name: str) -> list[Installed]:
    """Installed bundles from a file."""
    value = load_one(name)
    listed = value.get("operators", value.get("installed")) if isinstance(value, dict) else value
    if not isinstance(listed, list):
        raise InvalidObjectError(name, "a list of installed bundles, or a lock file, was expected")
    return [_installed_bundle(raw, f"{name}[{place}]") for place, raw in enumerate(listed)]


def _installed_bundle(raw: Json, where: str) -> Installed:
    from muster.resolution import Installed, property_from

    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
        raise InvalidObjectError(where, "an installed bundle is a mapping with a name")
    version, package, owner = (str(raw[key]) if raw.get(key) else "" for key in ("version", "package", "owner"))
    properties = raw.get("properties")
    given = tuple(map(property_from, properties)) if properties else ()
    return Installed(raw["name"], version, package, given, owner)


def _print_outcome(outcome: Outcome, output: Output, explain: str, time_limit: float) -> None:
    from muster.resolution import Refused, Resolved, Undecided

    match outcome:
        case Resolved():
            if explain:
                _print_explanation(outcome, explain, output, time_limit)
                return
            for line in fault_lines(outcome.plan.faults):
                sys.stderr.write(line + "\n")
            if output is Output.TREE:
                sys.stdout.writelines(f"{line}\n" for line in plan_lines(outcome.plan))
            else:
                print_value({"outcome": "resolved", **outcome.plan.to_json()}, output)
        case Undecided():
            late = Reason(Code.NOT_DECIDED, parameters={"seconds": f"{time_limit:g}"})
            _print_no_answer("undecided", sentence(late), output, late)
        case Refused(text=text, reason=reason):
            _print_no_answer("refused", text, output, reason)
        case _:
            _print_failure(outcome, output, time_limit)


def _print_explanation(outcome: Resolved, package: str, output: Output, time_limit: float) -> None:
    from muster.resolution.telling.explain import explain_package
    from muster.resolution.time_limits import UndecidedError

    deadline = time.monotonic() + time_limit
    try:
        found = explain_package(outcome, package, lambda: time.monotonic() < deadline)
    except UndecidedError:
        sys.stderr.write(f"why was not found out in {time_limit:g} s\n")
        return
    if output is Output.TREE:
        sys.stdout.write(f"{found}\n")
    else:
        print_value({"outcome": "resolved", **found.to_json()}, output)


def _print_no_answer(kind: str, text: str, output: Output, reason: Reason | None = None) -> None:
    """People read it on standard error; programs get the outcome where they expect it."""
    sys.stderr.write(f"{text}\n")
    if output is not Output.TREE:
        why = {} if reason is None else {"reason": msgspec.to_builtins(reason)}
        print_value({"outcome": kind, "text": text, **why}, output)


def _print_upstream(outcome: Impossible, output: Output) -> None:
    """The conflict in upstream's words; programs get it clause by clause."""
    if output is Output.TREE:
        sys.stdout.write(f"{outcome.upstream_text}\n")
    else:
        told = {"facts": msgspec.to_builtins(outcome.reasons)}
        print_value({"outcome": "impossible", "text": outcome.upstream_text, "reasons": told}, output)


def _print_failure(outcome: Impossible, output: Output, time_limit: float) -> None:
    from muster.resolution import suggested_fixes, tell
    from muster.resolution.time_limits import UndecidedError

    deadline = time.monotonic() + time_limit
    try:
        if outcome.problem.request.upstream:
            _print_upstream(outcome, output)
            return
        story = tell(outcome.problem, go_on=lambda: time.monotonic() < deadline)
    except UndecidedError:
        _print_no_answer("impossible", f"No answer. Why was not found out in {time_limit:g} s.", output)
        return
    fixes = suggested_fixes(outcome.problem, lambda: time.monotonic() < deadline)
    for line in fault_lines(outcome.problem.faults):
        sys.stderr.write(line + "\n")
    if output is Output.TREE:
        sys.stdout.writelines(f"{line}\n" for line in failure_lines(story, fixes))
    else:
        faults = outcome.problem.faults
        reasons = {"fixes": [fix.reason for fix in fixes], "faults": [fault.reason for fault in faults]}
        value = {
            "outcome": "impossible",
            "facts": story.to_json(),
            "fixes": [fix.text for fix in fixes],
            "faults": [str(fault) for fault in faults],
            "reasons": msgspec.to_builtins(reasons),
        }
        print_value(value, output)


def _old_lock(name: str) -> Lock | None:
    from muster.resolution.telling.lock import read_lock

    return read_lock(load_one(name)) if Path(name).exists() else None


def _write_lock(outcome: Resolved, name: str, before: Lock | None) -> None:
    from muster.resolution.telling.lock import lock_changes, make_lock

    after = make_lock(outcome)
    if before is not None:
        changes = lock_changes(before, after)
        for change in changes:
            sys.stderr.write(f"{change}\n")
        sys.stderr.write("" if changes else "the lock has not changed\n")
    _write(name, yaml_text(after.to_json()))


def _write(name: str, text: str) -> None:
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidObjectError(name, error.strerror or str(error)) from error


app.command("constraints")(constraints_command)
app.command("lint")(lint_command)
