"""From the options of `muster resolve` to what is resolved: a Request over files, or a Resolution for a server."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from muster.cli.inputs.catalogs import read_catalogs
from muster.cli.inputs.documents import load_one
from muster.errors import InvalidObjectError
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.resolution import Catalog, Installed, Property, Request, Want

_MOST_MEANT, _FEW = 3, 10
Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is wanted, as it was typed."""

    catalogs: Sequence[str] = ()
    wants: Sequence[str] = ()
    starting: Sequence[str] = ()
    installed: str = ""
    priorities: Sequence[str] = ()
    facts: Sequence[str] = ()
    optional: str = "install"
    compat: str = ""


def request_of(asked: Asked) -> Request:
    """The request over catalogs in files. Raises InvalidObjectError."""
    from muster.resolution import Dialect, OptionalPolicy, Request, parse_want
    from muster.resolution.from_object import bound, completed

    built = [each.build() for each in read_catalogs(asked.catalogs, asked.priorities)]
    parsed = [parse_want(text) for text in asked.wants]
    _say_what_is_unknown(parsed, built)
    if not parsed and not asked.installed:
        raise InvalidObjectError("--want", "say what is wanted: --want package[@range][:channel]")
    names = [want.name for want in parsed]
    parsed = [replace(want, name=str(want)) if names.count(want.name) > 1 else want for want in dict.fromkeys(parsed)]
    present = completed(_installed(asked.installed), built) if asked.installed else ()
    return Request(
        catalogs=tuple(built),
        wants=_starting(bound(parsed, present), asked.starting),
        installed=present,
        facts=tuple(map(_fact, asked.facts)),
        optional=_choice(OptionalPolicy, asked.optional, "--optional"),
        dialect=_choice(Dialect, asked.compat, "--compat") if asked.compat else Dialect.MUSTER,
    )


def resolution_of(asked: Asked, seconds: float) -> JsonObject:
    """The same as a Resolution, over the catalogs that a server has. Raises InvalidObjectError."""
    from muster.resolution import Dialect, OptionalPolicy, parse_want

    if asked.priorities:
        raise InvalidObjectError("--priority", "is for catalogs that are given with --catalog")
    wants = _starting(tuple(parse_want(text) for text in asked.wants), asked.starting)
    if not wants and not asked.installed:
        raise InvalidObjectError("--want", "say what is wanted: --want package[@range][:channel]")
    spec: JsonObject = {
        "wants": [_plain_want(want) for want in wants],
        "installed": [_plain_installed(each) for each in (_installed(asked.installed) if asked.installed else ())],
        "facts": [{"type": each.type, "value": each.value} for each in map(_fact, asked.facts)],
        "optional": _choice(OptionalPolicy, asked.optional, "--optional").value,
        "timeLimitSeconds": max(1, min(int(seconds), 120)),
    }
    if asked.compat:
        spec["compat"] = _choice(Dialect, asked.compat, "--compat").value
    return {"apiVersion": "resolution.muster.dev/v1alpha1", "kind": "Resolution", "spec": spec}


def _plain_want(want: Want) -> JsonObject:
    found = {
        "package": want.package,
        "channel": want.channel,
        "range": want.version_range,
        "startingCSV": want.starting,
    }
    return {name: value for name, value in found.items() if value}


def _plain_installed(given: Installed) -> JsonObject:
    found: JsonObject = {"name": given.name, "package": given.package, "version": given.version}
    if given.properties:
        found["properties"] = [{"type": each.type, "value": each.value} for each in given.properties]
    return {name: value for name, value in found.items() if value}


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
