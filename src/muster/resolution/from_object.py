"""What a Resolution asks, as a Request; and everything that is wrong with it, by field.

The worker of the controllers makes requests with it, admission checks specs with it, and the command line shares how
installed bundles are completed and bound to wants. It reads no catalog: those come ready.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from muster.cel import CompileBudget
from muster.resolution.catalog.properties import Property
from muster.resolution.constraints.forms import InvalidConstraintError
from muster.resolution.constraints.matching import Matcher, checked_requirement
from muster.resolution.request import Dialect, Installed, OptionalPolicy, Request, Want
from muster.values.causes import Cause, forbidden, invalid, invalid_without_value, too_many
from muster.values.json import Json
from muster.values.semver import InvalidVersionError, parse, parse_tolerant
from muster.values.semver_range import parse_range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from muster.api.resolution import GivenProperty, ResolutionSpec, WantedPackage
    from muster.resolution.catalog.bundles import Bundle
    from muster.resolution.catalog.catalog import Catalog

MOST_CHECKED: Final = 256  # different constraints of one spec; the rest is checked when it is resolved
_MOST_CAUSES: Final = 32


def request_of(spec: ResolutionSpec, catalogs: Sequence[Catalog]) -> Request:
    """The question that a spec asks of these catalogs."""
    given = [
        Installed(each.name, each.version, each.package, tuple(map(_property, each.properties)))
        for each in spec.installed
    ]
    installed = completed(given, catalogs)
    return Request(
        catalogs=tuple(catalogs),
        wants=bound(map(_want, spec.wants), installed),
        installed=installed,
        facts=tuple(map(_property, spec.facts)),
        dialect=Dialect(spec.compat) if spec.compat else Dialect.MUSTER,
        optional=OptionalPolicy(spec.optional),
    )


def _want(given: WantedPackage) -> Want:
    return Want(
        name=given.package,
        package=given.package,
        channel=given.channel,
        version_range=f"={given.pin}" if given.pin else given.range,
        starting=given.starting_csv,
        catalog=given.catalog,
        priority=given.priority,
    )


def _property(given: GivenProperty) -> Property:
    return Property(given.type, given.value)


def bound(wants: Iterable[Want], installed: Iterable[Installed]) -> tuple[Want, ...]:
    """Every want with the installed bundle of its package, which belongs to it."""
    by_package = {each.package: each.name for each in installed}
    return tuple(replace(want, installed=by_package.get(want.package, "")) for want in wants)


def completed(installed: Sequence[Installed], catalogs: Sequence[Catalog]) -> tuple[Installed, ...]:
    """What is not said of installed bundles is taken from the catalogs."""
    missing = {each.name for each in installed}
    known: dict[str, Bundle] = {}
    for entry in (entry for catalog in catalogs for entry in catalog.entries) if missing else ():
        if entry.name in missing:
            known.setdefault(entry.name, entry.bundle)
    return tuple(_completed(each, known.get(each.name)) for each in installed)


def _completed(given: Installed, known: Bundle | None) -> Installed:
    if known is None:
        return given
    return replace(
        given,
        package=given.package or known.package,
        version=given.version or known.version_text,
        properties=given.properties or tuple(known.properties()),
    )


# --- what is wrong


def spec_causes(spec: ResolutionSpec) -> list[Cause]:
    """Everything that is wrong with a spec beyond its schema, in the words of the command line."""
    found: list[Cause] = []
    checking = _Constraints()
    for causes in (_catalogs(spec), _wants(spec), _installed(spec), checking.causes(spec)):
        for cause in causes:
            if len(found) == _MOST_CAUSES:
                return found
            found.append(cause)
    return found


def _catalogs(spec: ResolutionSpec) -> Iterator[Cause]:
    for place, catalog in enumerate(spec.catalogs):
        if catalog.is_inline and catalog.config_map is not None:
            yield forbidden(f"spec.catalogs[{place}].configMap", "may not be given together with inline")


def _wants(spec: ResolutionSpec) -> Iterator[Cause]:
    catalogs = {catalog.name for catalog in spec.catalogs}
    for place, want in enumerate(spec.wants):
        path = f"spec.wants[{place}]"
        if want.range and want.pin:
            yield forbidden(f"{path}.pin", "may not be given together with range")
        if want.range and (problem := _problem(parse_range, want.range)):
            yield invalid(f"{path}.range", want.range, problem)
        if want.pin and (problem := _problem(parse, want.pin)):
            yield invalid(f"{path}.pin", want.pin, problem)
        if want.catalog and catalogs and want.catalog not in catalogs:
            yield invalid(f"{path}.catalog", want.catalog, "is none of spec.catalogs")


def _installed(spec: ResolutionSpec) -> Iterator[Cause]:
    for place, each in enumerate(spec.installed):
        if each.version and (problem := _problem(parse_tolerant, each.version)):
            yield invalid(f"spec.installed[{place}].version", each.version, problem)


def _problem(read: Callable[[str], object], text: str) -> str:
    try:
        read(text)
    except InvalidVersionError as error:
        return str(error)
    return ""


class _Constraints:
    """Checks the constraints of a spec, each text once."""

    def __init__(self) -> None:
        self._matcher = Matcher(budget=CompileBudget())
        self._seen: set[bytes] = set()

    def causes(self, spec: ResolutionSpec) -> Iterator[Cause]:
        for path, properties in _property_lists(spec):
            for place, raw in enumerate(properties):
                if not isinstance(raw, dict) or not isinstance(raw.get("type"), str):
                    yield invalid_without_value(f"{path}.properties[{place}]", "a property has a type and a value")
                    continue
                text = msgspec.json.encode(raw)
                if text in self._seen:
                    continue
                try:
                    if checked_requirement(Property(raw["type"], raw.get("value")), place, self._matcher) is None:
                        continue
                except InvalidConstraintError as error:
                    yield invalid_without_value(path + _dotted(error.path), error.reason)
                self._seen.add(text)
                if len(self._seen) > MOST_CHECKED:
                    yield too_many(f"{path}.properties", len(self._seen), MOST_CHECKED)
                    return


def _property_lists(spec: ResolutionSpec) -> Iterator[tuple[str, list[Json]]]:
    """As they are written: what stands in a blob is anybody's."""
    for place, catalog in enumerate(spec.catalogs):
        for number, blob in enumerate(catalog.blobs()):
            if isinstance(blob, dict) and blob.get("schema") == "olm.bundle":
                properties = blob.get("properties")
                if isinstance(properties, list):
                    yield f"spec.catalogs[{place}].inline[{number}]", properties
    for place, each in enumerate(spec.installed):
        yield f"spec.installed[{place}]", [{"type": given.type, "value": given.value} for given in each.properties]


def _dotted(pointer: str) -> str:
    """A JSON pointer as a field path."""
    return re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", pointer.replace("/", "."))
