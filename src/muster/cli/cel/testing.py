"""`muster cel test` and `muster cel migrate`: tables of cases for expressions; what a new Kubernetes does to them."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from xml.sax.saxutils import escape, quoteattr

import typer

from muster.cli.inputs.documents import load_all
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.paint import Shade, paint_for
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.cli.terminal.paint import Paint
    from muster.expression_tests.tables import Table, Tested
    from muster.values.json import Json, JsonObject

Files = Annotated[list[str], typer.Argument(metavar="FILE…", help="Test files; directories: every *.test.yaml.")]
_ENDING = ".test.yaml"


def run_tables(
    files: Files,
    kubernetes: Annotated[
        str, typer.Option("--kubernetes", metavar="1.N", help="This version instead of the one that the file names.")
    ] = "",
    junit: Annotated[
        str, typer.Option("--junit", metavar="FILE", help="Write the results as JUnit's XML too.", show_default=False)
    ] = "",
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Show which outcomes of which parts no case brought about.")
    ] = False,
    least: Annotated[
        int, typer.Option("--least", metavar="PERCENT", help="Fail below so many percent of branches.", min=0, max=100)
    ] = 0,
    update: Annotated[bool, typer.Option("--update", help="Write what was found into the files.")] = False,
) -> None:
    """Run tables of cases: for expressions, policies, CRD rules, match conditions, device requests and placements.

    Exits with 0 when every case gives what it expects, 1 when one does not, 2 for bad input.

    Examples:
      muster cel test examples/07-cel-tests
      muster cel test examples/07-cel-tests/replicas.test.yaml --kubernetes 1.30 --coverage
      muster cel test examples/07-cel-tests --junit results.xml
    """
    paint = paint_for(sys.stdout)
    found: list[tuple[Table, list[Tested]]] = []
    started = time.perf_counter()
    for file in _files(files):
        tables = [(number, table, list(table.run())) for number, table in _tables(file, kubernetes)]
        for _, table, tested in tables:
            _print(table, tested, paint)
        found += [(table, tested) for _, table, tested in tables]
        if update:
            _update(file, [(number, each) for number, _, tested in tables for each in tested])
    every = [each for _, tested in found for each in tested]
    failed = sum(not each.passed for each in every)
    percent = _coverage([table for table, _ in found], show=coverage)
    sys.stdout.write(
        f"{len(every) - failed} passed, {failed} failed, {percent} % of branches, "
        f"{(time.perf_counter() - started) * 1e3:.0f} ms\n"
    )
    if junit:
        Path(junit).write_text(_junit(found), encoding="utf-8")
    if percent < least:
        sys.stdout.write(f"fewer branches than the {least} % that are wanted\n")
    if (failed and not update) or percent < least:
        raise typer.Exit(int(Exit.NO))


def migrate_command(
    files: Files,
    before: Annotated[str, typer.Option("--from", metavar="1.N", help="The version there is.")],
    after: Annotated[str, typer.Option("--to", metavar="1.N", help="The version there will be.")],
) -> None:
    """Say what changes for expressions between two versions of Kubernetes: in manifests, and in test files.

    Whether they compile, what they may cost, and, for the cases of test files, what comes out. Exits with 1 when
    something breaks.

    Examples:
      muster cel migrate examples/07-cel-tests --from 1.30 --to 1.36
      muster cel migrate examples/07-cel-tests/replicas.yaml --from 1.28 --to 1.36
    """
    from functools import partial

    from muster.cel import environment
    from muster.expression_tests.migrating import differences

    for version in (before, after):
        environment(_environment_of(version))  # a version that nobody knows is a mistake, not a difference
    breaks = looked = 0
    for file in _files(files, manifests=True):
        for number, document in enumerate(_documents(file)):
            if "cases" not in document and not _has_expressions(document):
                continue
            looked += 1
            for each in differences(partial(_read_for, file, number, document), before, after):
                breaks += each.breaks
                sys.stdout.write(f"{'breaks' if each.breaks else 'changes'}  {each.place}: {each.text}\n")
    if not looked:
        raise InvalidObjectError(", ".join(files), "there is no test file and no manifest with expressions here")
    sys.stdout.write(
        f"{looked} documents, {breaks} of them would break from {before} to {after}\n"
        if breaks
        else f"{looked} documents, nothing breaks from {before} to {after}\n"
    )
    if breaks:
        raise typer.Exit(int(Exit.NO))


# ------------------------------------------------------------------------------------------------------------ reading


def _files(names: Sequence[str], *, manifests: bool = False) -> Iterator[Path]:
    for name in names:
        path = Path(name)
        if not path.exists():
            raise InvalidObjectError(name, "no such file or directory")
        if not path.is_dir():
            yield path
            continue
        found = sorted(path.rglob(f"*{_ENDING}"))
        if manifests:
            found = sorted({*path.rglob("*.yaml"), *path.rglob("*.yml")})
        if not found:
            raise InvalidObjectError(name, f"no file in this directory ends in {_ENDING}")
        yield from found


def _documents(file: Path) -> list[JsonObject]:
    found: list[Json] = load_all(str(file))
    for each in found:
        if not isinstance(each, dict):
            raise InvalidObjectError(str(file), f"a document is an object, this is {type(each).__name__}")
    return found


def _tables(file: Path, kubernetes: str) -> Iterator[tuple[int, Table]]:
    documents = _documents(file)
    if not documents:
        raise InvalidObjectError(str(file), "there is no table in this file, so that nothing is tested")
    for number, document in enumerate(documents):
        yield number, _read(file, number, document, kubernetes)


def _read(file: Path, number: int, document: JsonObject, kubernetes: str) -> Table:
    from muster.expression_tests.tables import read_table

    place = str(file) if not number else f"{file} (document {number + 1})"
    return read_table(document, place, lambda name: _documents(file.parent / name), kubernetes=kubernetes)


def _read_for(file: Path, number: int, document: JsonObject, version: str) -> Table:
    """A table of a test file, or a manifest as a table without cases."""
    from muster.expression_tests.subjects import manifest_subject
    from muster.expression_tests.tables import Table

    if "cases" in document:
        return _read(file, number, document, version)
    name = _environment_of(version)
    return Table(str(file), name, manifest_subject(document, name, str(file)))


def _environment_of(version: str) -> str:
    return f"kubernetes-{version.removeprefix('v')}"


def _has_expressions(document: JsonObject) -> bool:
    from muster.expression_tests.subjects import KINDS

    return document.get("kind") in KINDS


# ----------------------------------------------------------------------------------------------------------- printing


def _print(table: Table, tested: Sequence[Tested], paint: Paint) -> None:
    sys.stdout.write(f"{table.name} ({table.environment})\n")
    for each in tested:
        mark = paint("✓", Shade.GOOD) if each.passed else paint("✕", Shade.BAD)
        sys.stdout.write(f"  {mark} {each.name}\n")
        if each.problem:
            sys.stdout.writelines(f"      {line}\n" for line in each.problem.splitlines())


def _coverage(tables: Sequence[Table], *, show: bool) -> int:
    """The percentage of branches that were taken."""
    from muster.expression_tests.coverage import branches

    taken = every = 0
    for table in tables:
        for expression in table.subject.expressions:
            found = branches(expression.program, expression.seen)
            taken += sum(each.taken for each in found)
            every += len(found)
            missing = [each for each in found if not each.taken]
            if show and missing:
                sys.stdout.write(f"{expression.place}\n")
                for each in missing:
                    sys.stdout.write(f"  never {'true' if each.outcome else 'false'}: {each.text}\n")
    return 100 if not every else taken * 100 // every


def _junit(found: Sequence[tuple[Table, Sequence[Tested]]]) -> str:
    suites = []
    for table, tested in found:
        cases = []
        for each in tested:
            inside = (
                "" if each.passed else f"<failure message={quoteattr(each.problem)}>{escape(each.problem)}</failure>"
            )
            cases.append(f"<testcase classname={quoteattr(table.name)} name={quoteattr(each.name)}>{inside}</testcase>")
        failures = sum(not each.passed for each in tested)
        suites.append(
            f'<testsuite name={quoteattr(table.name)} tests="{len(tested)}" failures="{failures}">'
            f"{''.join(cases)}</testsuite>"
        )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>{"".join(suites)}</testsuites>\n'


def _update(file: Path, results: Sequence[tuple[int, Tested]]) -> None:
    from muster.expression_tests.updating import updated

    before = file.read_text(encoding="utf-8")
    after = updated(before, results)
    if after != before:
        draft = file.with_name(f".{file.name}.new")
        draft.write_text(after, encoding="utf-8")
        draft.replace(file)
        sys.stdout.write(f"{file}: updated\n")
