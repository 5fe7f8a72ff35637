"""`muster resolve constraints` and `muster resolve lint`: what constraints mean, and what is wrong with catalogs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from muster.cli.inputs.catalogs import read_catalogs
from muster.cli.inputs.documents import load_one
from muster.cli.inputs.fields import text_in
from muster.cli.resolve.output import Output, print_value
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.progress import Progress
from muster.errors import InvalidObjectError
from muster.reasons import sentence
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.reasons import Reason


@dataclass(frozen=True, slots=True)
class _Given:
    """A property of a file: where it stands, and whether it is one of dependencies.yaml, where types mean more."""

    raw: Json
    place: str
    bundle: str = ""
    dependency: bool = False

    def at(self, pointer: str) -> str:
        """A pointer from the property's bundle as a pointer into the file."""
        return self.place + pointer.removeprefix("/properties/0")


def constraints_command(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A constraint, a list of properties, bundles or dependencies.yaml.")
    ],
    output: Annotated[Output, typer.Option("--output", "-o", help="json or yaml.")] = Output.YAML,
    shipped: Annotated[bool, typer.Option("--shipped", help="Print the spelling that OLM takes.")] = False,
) -> None:
    """Print constraints in one spelling, with what is wrong with them. Exits with 1 if one cannot be read.

    Examples:
      muster resolve constraints examples/03-resolve-operators/catalog.yaml
      muster resolve constraints --shipped examples/03-resolve-operators/catalog.yaml
    """
    from muster.resolution import InvalidConstraintError, normal_form, property_from, shipped_form
    from muster.resolution.catalog.dependencies import from_dependency
    from muster.resolution.constraints.matching import Matcher, checked_requirement

    printed: list[JsonObject] = []
    failed = False
    for given in _given(file):
        try:
            prop = property_from(given.raw)
            read = from_dependency(prop) if given.dependency else None
            requirement = checked_requirement(prop if read is None else read, 0, Matcher())
            if requirement is None:
                continue
        except InvalidConstraintError as error:
            failed = True
            sys.stderr.write(f"{file}#{given.at(error.path)}: {error.reason}\n")
            continue
        for pointer, reason in requirement.warnings:
            sys.stderr.write(f"{file}#{given.at(pointer)}: {sentence(reason)}\n")
        if shipped:
            printed.append({"type": "olm.constraint", "value": shipped_form(requirement)})
        else:
            origin = {"pointer": given.place, "syntax": requirement.origin.syntax}
            bundle = {"bundle": given.bundle} if given.bundle else {}
            printed.append(normal_form(requirement) | {"origin": bundle | origin})
    print_value(printed, Output.JSON if output is Output.JSON else Output.YAML)
    if failed:
        raise typer.Exit(int(Exit.NO))


def _given(file: str) -> Iterator[_Given]:
    for value in _values(file):
        found = list(_of_document(value))
        if not found and not (isinstance(value, dict) and "schema" in value):
            raise InvalidObjectError(
                file, "a constraint, a list of properties, a bundle or dependencies.yaml was expected"
            )
        yield from found


def _values(file: str) -> list[Json]:
    """The documents of a file: one of any shape, or several objects, such as the blobs of a catalog."""
    try:
        return [load_one(file)]
    except InvalidObjectError:
        if file == "-" or not Path(file).is_file():
            raise
    from muster.catalog_files import blobs_of

    faults: list[InvalidObjectError] = []

    def fault(where: str, reason: Reason) -> None:
        faults.append(InvalidObjectError(where, sentence(reason)))

    with Path(file).open("rb") as stream:
        found = [blob for _, blob in blobs_of(file, stream, fault)]
    if faults:
        raise faults[0]
    return [msgspec.json.decode(blob) if isinstance(blob, bytes) else blob for blob in found]


def _of_document(value: Json) -> Iterator[_Given]:
    if isinstance(value, list):
        yield from (_Given(raw, f"/{place}") for place, raw in enumerate(value))
    elif isinstance(value, dict) and "type" in value:
        yield _Given(value, "", dependency=True)
    elif isinstance(value, dict):
        bundle = text_in(value, "name")
        for key in ("properties", "dependencies"):
            listed = value.get(key)
            for place, raw in enumerate(listed if isinstance(listed, list) else ()):
                yield _Given(raw, f"/{key}/{place}", bundle, dependency=key == "dependencies")


def lint_command(
    catalog: Annotated[list[str], typer.Argument(metavar="[NAME=]PATH", help="Catalogs: files or directories.")],
    output: Annotated[Output, typer.Option("--output", "-o", help="How to print.")] = Output.TREE,
) -> None:
    """Find unreadable, contradictory and useless constraints and broken channels. Exits with 1 if there are errors.

    Examples:
      muster resolve lint examples/03-resolve-operators/catalog.yaml
      muster resolve lint examples/03-resolve-operators/catalog.yaml -o json
    """
    from muster.resolution.lint import Severity, lint_catalogs

    builders = read_catalogs(catalog, ())
    catalogs = [builder.build() for builder in builders]
    places = {key: where for builder in builders for key, where in builder.places.items()}
    with Progress("bundles checked") as progress:
        findings = lint_catalogs(catalogs, places, progress.advance)
    if output is Output.TREE:
        sys.stdout.writelines(f"{finding}\n" for finding in findings)
    else:
        print_value([each.to_json() for each in findings], output)
    if any(each.severity is Severity.ERROR for each in findings):
        raise typer.Exit(int(Exit.NO))
