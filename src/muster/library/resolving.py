"""`muster.resolve`: operators that work together, from catalogs in files; or why there are none, and what helps."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Final

from muster.api.fleet_resolution import RESOLVED, ResolutionPreviewStatus
from muster.catalog_files import read_path
from muster.errors import InvalidObjectError
from muster.placement.explain.tables import Table, Tabular
from muster.resolution import CatalogBuilder, Installed, OptionalPolicy, Property, Request, parse_want, property_from
from muster.resolution import resolve as resolved_by
from muster.resolution.from_object import bound, completed
from muster.resolution.preview import previewed
from muster.values.arguments import expected, plain_object, several, text, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.api.fleet_resolution import PlannedStep, PreviewFix
    from muster.library.loading import PathText
    from muster.values.json import Json, JsonMapping


_MOST_SECONDS: Final = 1_000_000


@dataclass(frozen=True, slots=True, repr=False)
class Resolution(Tabular):
    """A plan, or the story of why there is none. Prints as a table; notebooks show it as one."""

    status: ResolutionPreviewStatus  # all of it

    @property
    def resolved(self) -> bool:
        """Whether there is a plan."""
        return self.status.outcome == RESOLVED

    @property
    def steps(self) -> tuple[PlannedStep, ...]:
        """What to install, update and keep, and who asked for it."""
        return self.status.plan

    @property
    def versions(self) -> dict[str, str]:
        """The plan in short: versions by package."""
        return {step.package: step.version for step in self.steps}

    @property
    def story(self) -> str:
        """For people: a summary of the plan, or why there is none."""
        return self.status.text

    @property
    def fixes(self) -> tuple[PreviewFix, ...]:
        """Changes that would help; each was tried, and has the plan that it leads to."""
        return self.status.fixes

    def __repr__(self) -> str:
        return f"<Resolution: {self.status.outcome}, {len(self.steps)} steps>"

    def table(self) -> Table:
        """The steps; or the story line by line, then the fixes."""
        if self.resolved:
            rows = [
                (step.action, step.package, step.version, step.channel, step.catalog, "; ".join(step.asked_by))
                for step in self.steps
            ]
            headers = ("Action", "Package", "Version", "Channel", "Catalog", "Why")
            return Table(f"{len(rows)} operators", headers, tuple(rows))
        told = [("why", line) for line in self.story.splitlines() if line.strip()]
        told += [("fix", each.text) for each in self.fixes]
        return Table(f"no plan: {self.status.outcome}", ("", "Text"), tuple(told))


def resolve(
    catalogs: PathText | Sequence[PathText] | Mapping[str, PathText],
    want: str | Sequence[str],
    *,
    installed: Iterable[JsonMapping] = (),
    facts: Mapping[str, Json] | None = None,
    optional: str = "install",
    seconds: float = 30.0,
) -> Resolution:
    """Find operators that work together: `want` is PACKAGE, PACKAGE@RANGE, PACKAGE:CHANNEL, or several of them.

    Catalogs are file-based catalogs in files or directories, by name if they are a mapping. `installed` are mappings
    with name, package and version; `facts` are properties of the cluster by their type. Raises InvalidObjectError for
    what cannot be read.

    >>> import muster
    >>> muster.resolve("examples/03-resolve-operators/catalog.yaml", "shop").resolved
    True
    """
    wants = [parse_want(text) for text in texts(want, "want")]
    listed = several(installed, Mapping, "installed", "a mapping with name, package and version")
    present = [_installed(each, f"installed[{number}]") for number, each in enumerate(listed)]
    if not wants and not present:
        raise InvalidObjectError("want", "say what is wanted: PACKAGE, PACKAGE@RANGE or PACKAGE:CHANNEL")
    known_facts = plain_object(facts or {}, "facts")
    if optional not in list(OptionalPolicy):
        raise InvalidObjectError("optional", f"{optional!r} is none of {', '.join(OptionalPolicy)}")
    if not 0 <= expected(seconds, (int, float), "seconds", "a number") <= _MOST_SECONDS:
        raise InvalidObjectError("seconds", f"expected a number from 0 to {_MOST_SECONDS:,}")
    built = [_catalog(name, path).build() for name, path in _named(catalogs)]
    known = completed(present, built) if present else ()
    request = Request(
        catalogs=tuple(built),
        wants=bound(wants, known),
        installed=known,
        facts=tuple(Property(name, value) for name, value in known_facts.items()),
        optional=OptionalPolicy(optional),
    )
    deadline = time.monotonic() + seconds
    outcome = resolved_by(request, lambda: time.monotonic() < deadline)
    told = time.monotonic() + seconds
    return Resolution(previewed(outcome, go_on=lambda: time.monotonic() < told, seconds=seconds))


def _named(catalogs: PathText | Sequence[PathText] | Mapping[str, PathText]) -> list[tuple[str, Path]]:
    if isinstance(catalogs, Mapping):
        return [(expected(name, str, "catalogs", "names as keys"), _path(path)) for name, path in catalogs.items()]
    given = (catalogs,) if isinstance(catalogs, str | PathLike) else catalogs
    if not isinstance(given, list | tuple):
        raise InvalidObjectError("catalogs", "expected a path, several, or a mapping of names to paths")
    paths = [_path(each) for each in given]
    names = [path.resolve().name.split(".")[0] or str(path) for path in paths]
    if twice := {name for name in names if names.count(name) > 1}:
        raise InvalidObjectError("catalogs", f"two catalogs are called {min(twice)}: give them names, in a mapping")
    return list(zip(names, paths, strict=True))


def _path(given: PathText) -> Path:
    path = fspath(expected(given, (str, PathLike), "catalogs", "a path"))
    if "\0" in text(path, "catalogs", "a path"):
        raise InvalidObjectError("catalogs", "a path cannot have a null character")
    return Path(path)


def _catalog(name: str, path: Path) -> CatalogBuilder:
    builder = CatalogBuilder(name)
    read_path(path, builder)
    return builder


def _installed(raw: JsonMapping, where: str) -> Installed:
    given = plain_object(raw, where)
    text(given.get("name"), f"{where}.name")
    version, package, owner = (text(given.get(key) or "", f"{where}.{key}") for key in ("version", "package", "owner"))
    properties = expected(given.get("properties") or [], list, f"{where}.properties", "a list")
    return Installed(given["name"], version, package, tuple(map(property_from, properties)), owner)
