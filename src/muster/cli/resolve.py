"""`muster resolve`: which operators to install, from catalogs in files, and why; or why there is no answer."""

from __future__ import annotations

import gc
import sys
import time
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from muster.cli.catalogs import read_catalog
from muster.cli.documents import load_one
from muster.cli.exits import Exit
from muster.cli.output import print_json, print_yaml, yaml_text
from muster.cli.progress import Progress
from muster.cli.resolve_output import failure_lines, fault_lines, plan_lines
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.resolution import Catalog, CatalogBuilder, Impossible, Installed, Outcome, Property, Request, Resolved
    from muster.resolution.lock import Lock

app = typer.Typer(no_args_is_help=True, help="Find operators that work together, and say why.")

_DEFAULT_LIMIT = 30.0
Choice = TypeVar("Choice", bound=StrEnum)


class _Output(StrEnum):
    TREE = "tree"
    JSON = "json"
    YAML = "yaml"


_Catalogs = Annotated[
    list[str] | None,
    typer.Option("--catalog", "-c", help="Catalog: [NAME=]FILE or directory; several are taken.", show_default=False),
]


@app.callback(invoke_without_command=True)
def resolve_command(
    context: typer.Context,
    catalog: _Catalogs = None,
    want: Annotated[
        list[str] | None,
        typer.Option(
            "--want", "-w", help="PACKAGE, PACKAGE@RANGE, PACKAGE:CHANNEL or PACKAGE@RANGE:CHANNEL.", show_default=False
        ),
    ] = None,
    installed: Annotated[
        str, typer.Option("--installed", help="What is installed: a list, or a lock file.", show_default=False)
    ] = "",
    priority: Annotated[
        list[str] | None, typer.Option("--priority", help="NAME=NUMBER of a catalog.", show_default=False)
    ] = None,
    fact: Annotated[
        list[str] | None,
        typer.Option("--fact", help="TYPE=VALUE: a property of the cluster, value as YAML.", show_default=False),
    ] = None,
    optional: Annotated[
        str, typer.Option("--optional", help="Optional requirements: install, only-if-present or ignore.")
    ] = "install",
    compat: Annotated[str, typer.Option("--compat", help="Decide as olm-v0 does.", show_default=False)] = "",
    lock: Annotated[
        str, typer.Option("--lock", help="Write the plan here; print what changed since.", show_default=False)
    ] = "",
    locked: Annotated[bool, typer.Option("--locked", help="Take exactly what --lock says, or fail.")] = False,
    explain: Annotated[
        str, typer.Option("--explain", help="Why this version of a package, why not another.", show_default=False)
    ] = "",
    graph: Annotated[
        str, typer.Option("--graph", help="Write a picture: FILE.svg, FILE.mmd, or - for Mermaid.", show_default=False)
    ] = "",
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds to decide in.")] = _DEFAULT_LIMIT,
    strict: Annotated[bool, typer.Option("--strict", help="Fail if anything in the catalogs cannot be used.")] = False,
    output: Annotated[_Output, typer.Option("--output", "-o", help="How to print.")] = _Output.TREE,
) -> None:
    """Resolve what is wanted. Exits with 0 for a plan, 1 if there is none or time was up, 2 for bad input."""
    if context.invoked_subcommand is not None:
        return
    from muster.resolution import Impossible, Resolved, resolve
    from muster.resolution.lock import locked_request

    request = _request(catalog or [], want or [], installed, priority or [], fact or [], optional, compat)
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
    _print_outcome(outcome, output, explain, time_limit)
    if not isinstance(outcome, Resolved):
        raise typer.Exit(int(Exit.NO))
    if graph:
        _write_graph(outcome, graph)
    if lock and not locked:
        _write_lock(outcome, lock, old_lock)


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

    built = [each.build() for each in _read(catalogs, priorities)]
    parsed = [parse_want(text) for text in wants]
    if not built:
        raise InvalidObjectError("--catalog", "say where to choose from: --catalog FILE or directory")
    if not parsed and not installed:
        raise InvalidObjectError("--want", "say what is wanted: --want package[@range][:channel]")
    names = [want.name for want in parsed]
    parsed = [replace(want, name=str(want)) if names.count(want.name) > 1 else want for want in dict.fromkeys(parsed)]
    present = _installed(installed, built) if installed else ()
    by_package = {each.package: each.name for each in present}
    return Request(
        catalogs=tuple(built),
        wants=tuple(replace(want, installed=by_package.get(want.package, "")) for want in parsed),
        installed=present,
        facts=tuple(map(_fact, facts)),
        optional=_choice(OptionalPolicy, optional, "--optional"),
        dialect=_choice(Dialect, compat, "--compat") if compat else Dialect.MUSTER,
    )


def _choice(kind: type[Choice], text: str, option: str) -> Choice:
    if text not in list(kind):
        raise InvalidObjectError(option, f"{text!r} is none of {', '.join(kind)}")
    return kind(text)


def _read(catalogs: Iterable[str], priorities: Iterable[str]) -> list[CatalogBuilder]:
    numbers: dict[str, int] = {}
    for text in priorities:
        name, _, number = text.partition("=")
        try:
            numbers[name] = int(number)
        except ValueError:
            raise InvalidObjectError("--priority", f"{text!r} is not NAME=NUMBER") from None
    with Progress("blobs read") as progress:
        builders = [read_catalog(argument, numbers, progress) for argument in catalogs]
    names = [builder.name for builder in builders]
    if twice := {name for name in names if names.count(name) > 1}:
        raise InvalidObjectError("--catalog", f"two catalogs are called {min(twice)}: write NAME=PATH")
    gc.freeze()  # catalogs stay; looking through them again and again for garbage costs more than deciding
    return builders


def _fact(text: str) -> Property:
    import yaml

    from muster.resolution import Property

    name, equals, value = text.partition("=")
    if not name or not equals:
        raise InvalidObjectError("--fact", f"{text!r} is not TYPE=VALUE")
    try:
        return Property(name, yaml.safe_load(value))
    except yaml.YAMLError as error:
        raise InvalidObjectError("--fact", f"the value of {name} is not valid YAML: {error}") from error


def _installed(name: str, catalogs: list[Catalog]) -> tuple[Installed, ...]:
    """Installed bundles from a file; what it does not say of them is taken from the catalogs."""
    from muster.resolution import Installed, property_from

    value = load_one(name)
    listed = value.get("operators", value.get("installed")) if isinstance(value, dict) else value
    if not isinstance(listed, list):
        raise InvalidObjectError(name, "a list of installed bundles, or a lock file, was expected")
    found = []
    for place, raw in enumerate(listed):
        if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
            raise InvalidObjectError(f"{name}[{place}]", "an installed bundle is a mapping with a name")
        properties = tuple(map(property_from, raw.get("properties") or ()))
        package, version = str(raw.get("package") or ""), str(raw.get("version") or "")
        known = _known_bundle(raw["name"], catalogs)
        if known is not None:
            package, version = package or known.package, version or known.version_text
            properties = properties or tuple(known.properties())
        found.append(Installed(raw["name"], version, package, properties, str(raw.get("owner") or "")))
    return tuple(found)


def _known_bundle(name: str, catalogs: list[Catalog]) -> Any:
    return next((entry.bundle for catalog in catalogs for entry in catalog.entries if entry.name == name), None)


def _print_outcome(outcome: Outcome, output: _Output, explain: str, time_limit: float) -> None:
    from muster.resolution import Refused, Resolved, Undecided
    from muster.resolution.explain import explain_package

    match outcome:
        case Resolved():
            if explain:
                sys.stdout.write(explain_package(outcome, explain) + "\n")
                return
            for line in fault_lines(outcome.plan.faults):
                sys.stderr.write(line + "\n")
            if output is _Output.TREE:
                sys.stdout.writelines(f"{line}\n" for line in plan_lines(outcome.plan))
            else:
                _print_value({"outcome": "resolved", **outcome.plan.to_json()}, output)
        case Undecided():
            sys.stderr.write(f"not decided in {time_limit:g} s\n")
        case Refused(text=text):
            sys.stderr.write(f"{text}\n")
        case _:
            _print_failure(outcome, output, time_limit)


def _print_failure(outcome: Impossible, output: _Output, time_limit: float) -> None:
    from muster.resolution import suggested_fixes, tell
    from muster.resolution.sat import UndecidedError

    if outcome.problem.request.upstream:
        sys.stdout.write(outcome.upstream_text + "\n")
        return
    deadline = time.monotonic() + time_limit
    try:
        story = tell(outcome.problem, go_on=lambda: time.monotonic() < deadline)
    except UndecidedError:
        sys.stdout.write(f"No answer. Why was not found out in {time_limit:g} s.\n")
        return
    fixes = suggested_fixes(outcome.problem, lambda: time.monotonic() < deadline)
    for line in fault_lines(outcome.problem.faults):
        sys.stderr.write(line + "\n")
    if output is _Output.TREE:
        sys.stdout.writelines(f"{line}\n" for line in failure_lines(story, fixes))
    else:
        value = {"outcome": "impossible", "facts": story.to_json(), "fixes": [fix.text for fix in fixes]}
        _print_value(value | {"faults": [str(fault) for fault in outcome.problem.faults]}, output)


def _print_value(value: Any, output: _Output) -> None:
    (print_json if output is _Output.JSON else print_yaml)(value)


def _write_graph(outcome: Resolved, name: str) -> None:
    from muster.resolution.graph import mermaid, svg

    text = svg(outcome.plan) if name.endswith(".svg") else mermaid(outcome.plan)
    if name == "-":
        sys.stdout.write(text)
    else:
        _write(name, text)


def _old_lock(name: str) -> Lock | None:
    from muster.resolution.lock import read_lock

    return read_lock(load_one(name)) if Path(name).exists() else None


def _write_lock(outcome: Resolved, name: str, before: Lock | None) -> None:
    from muster.resolution.lock import lock_changes, make_lock

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


@app.command("constraints")
def constraints_command(
    file: Annotated[str, typer.Argument(help="A constraint, a list of properties, a bundle or dependencies.yaml.")],
    output: Annotated[_Output, typer.Option("--output", "-o", help="json or yaml.")] = _Output.YAML,
    shipped: Annotated[bool, typer.Option("--shipped", help="Print the spelling that OLM takes.")] = False,
) -> None:
    """Print constraints in one spelling, with what is wrong with them. Exits with 1 if one cannot be read."""
    from muster.resolution import InvalidConstraintError, normal_form, property_from, read_any_spelling, shipped_form
    from muster.resolution.matching import Matcher

    printed: list[dict[str, Any]] = []
    failed = False
    for place, raw in enumerate(_properties(load_one(file), file)):
        try:
            requirement = read_any_spelling(property_from(raw), place)
            if requirement is None:
                continue
            Matcher().check(requirement.constraint)
        except InvalidConstraintError as error:
            failed = True
            sys.stderr.write(f"{file}#{error}\n")
            continue
        for warning in requirement.warnings:
            sys.stderr.write(f"{file}#{warning}\n")
        if shipped:
            printed.append({"type": "olm.constraint", "value": shipped_form(requirement)})
        else:
            origin = {"pointer": requirement.origin.pointer, "syntax": requirement.origin.syntax}
            printed.append(normal_form(requirement) | {"origin": origin})
    _print_value(printed, _Output.JSON if output is _Output.JSON else _Output.YAML)
    if failed:
        raise typer.Exit(int(Exit.NO))


def _properties(value: Any, name: str) -> list[Any]:
    if isinstance(value, dict):
        for key in ("properties", "dependencies"):
            if isinstance(value.get(key), list):
                return list(value[key])
        if "type" in value:
            return [value]
    if isinstance(value, list):
        return value
    raise InvalidObjectError(name, "a constraint, a list of properties, a bundle or dependencies.yaml was expected")


@app.command("lint")
def lint_command(
    catalog: Annotated[list[str], typer.Argument(help="Catalogs: [NAME=]FILE or directory.")],
    output: Annotated[_Output, typer.Option("--output", "-o", help="How to print.")] = _Output.TREE,
) -> None:
    """Find unreadable, contradictory and useless constraints and broken channels. Exits with 1 if there are errors."""
    from muster.resolution.lint import Severity, lint_catalogs

    builders = _read(catalog, ())
    catalogs = [builder.build() for builder in builders]
    places = {key: where for builder in builders for key, where in builder.places.items()}
    with Progress("bundles checked") as progress:
        findings = lint_catalogs(catalogs, places, progress.advance)
    if output is _Output.TREE:
        sys.stdout.writelines(f"{finding}\n" for finding in findings)
    else:
        rows = [{"where": each.where, "severity": each.severity.value, "text": each.text} for each in findings]
        _print_value(rows, output)
    if any(each.severity is Severity.ERROR for each in findings):
        raise typer.Exit(int(Exit.NO))
