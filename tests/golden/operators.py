"""What `muster resolve` says, over catalogs of every odd kind: plans, stories, fixes, faults, findings, pictures."""

from __future__ import annotations

import contextlib
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from typer.testing import CliRunner

from muster.cli.resolve.command import app
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Iterator

Object = dict[str, Any]
GOLD: Final = "properties.exists(p, p.type == 'tier' && p.value == 'gold')"
#: Each is printed for people and for programs.
RESOLUTIONS: Final = (
    "-w a",
    "-w a --explain d",
    "-w a --explain a",
    "-w a --explain nope",
    "-w a:beta",
    "-w a@>=9.0.0",
    "-w a@>=2.0.0 -w b",
    "-w a:nowhere",
    "-w aa",
    "-w b --installed installed.yaml",
    "-w broken",
    "-w wishes",
    "-w picky",
    "-w picky --fact tier=gold",
    "-w odd",
    "-w several -w rival",
    "-w many",
    "-w left",
    "-w old",
    "-w a --starting a=a.v1",
    "-w a --starting a=a.v7",
    "-w b -w rival --installed installed.yaml",
    "-w a --compat olm-v0",
    "-w aa --compat olm-v0",
    "-w picky --compat olm-v0",
    "-w b -w a@>=2.0.0 --compat olm-v0",
)


def spoken() -> Iterator[tuple[str, str]]:
    """Commands, with everything that they print."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        _write_files()
        for words in RESOLUTIONS:
            for output in ("tree", "json"):
                yield _said(f"-c cat.ndjson -c two=two.yaml {words} -o {output}")
        yield _said("-c cat.ndjson -w a --graph -")
        for output in ("tree", "json"):
            yield _said(f"lint cat.ndjson faults.ndjson bundles empty.json -o {output}")
        yield _said("-c cat.ndjson -c faults.ndjson -c bundles -w a")
        yield _said("-c cat.ndjson -c faults.ndjson -w a --strict")
        yield _said("constraints faults.ndjson")
        yield _said("-c cat.ndjson -w a --time-limit -1 -o json")


def _said(command: str) -> tuple[str, str]:
    try:
        result = CliRunner().invoke(app, command.split(), catch_exceptions=False)
    except InvalidObjectError as error:
        return command, f"refused: {error}"
    return command, f"{_compact(result.stdout)}{result.stderr}exit {result.exit_code}"


def _compact(text: str) -> str:
    """What is printed for programs in a line for each part, so that a change shows where it is."""
    if not text.startswith(("{", "[")):
        return text
    value = json.loads(text)
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return "".join(f"{key}: {json.dumps(item, ensure_ascii=False)}\n" for key, item in items)


def _write_files() -> None:
    _lines("cat.ndjson", _catalog())
    _lines("faults.ndjson", _faults())
    Path("empty.json").write_text('{"schema": "olm.package", "name": "x"')
    Path("two.yaml").write_text("\n---\n".join(map(json.dumps, _package("d", {"9.0.0": []}))) + "\n---\n{: broken\n")
    Path("installed.yaml").write_text("- {name: b.v1}\n- {name: own.v1, package: own, version: 1.0.0}\n")
    for name in ("manifests", "metadata"):
        (Path("bundles") / "no-csv" / name).mkdir(parents=True)


def _lines(name: str, blobs: Iterator[Object | str]) -> None:
    Path(name).write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in blobs))


def _catalog() -> Iterator[Object]:
    yield from _package("a", {"1.0.0": [], "2.0.0": [_needs("d", ">=1.0.0 <3.0.0")], "3.0.0": [_needs("none")]})
    yield _channel("a", "beta", ["a.v3"])
    yield from _package("b", {"1.0.0": [_api()], "2.0.0": [_needs("d", "<2.0.0"), _api()]})
    yield from _package("d", {"1.0.0": [], "2.0.0": [], "2.1.0": [_deprecated()]})
    yield {"schema": "olm.deprecations", "package": "d", "entries": [_said_of("olm.package", "d", "use e")]}
    yield from _package("broken", {"1.0.0": [], "2.0.0": []}, edges=False)
    yield _channel("broken", "second", ["broken.v1"])
    likes = {"cel": {"rule": GOLD}, "action": {"id": "require", "optional": True}, "message": "gold is nicer"}
    yield from _package("wishes", {"1.0.0": [_constraint(likes)]})
    yield from _package("silver", {"1.0.0": [{"type": "tier", "value": "silver"}], "1.1.0": [_label("golden")]})
    yield from _package("picky", {"1.0.0": [_constraint({"cel": {"rule": f"{GOLD} && size(properties) >= 1"}})]})
    both = {"all": {"constraints": [_kind("d", "<2.0.0"), {"not": {"constraints": [_kind("d", "1.x")]}}]}}
    either = {"any": {"constraints": [_kind("dd", "1.x"), {"label": {"label": "gold"}}]}, "failureMessage": "one of"}
    equal = {"propertyEquals": {"name": "tier", "value": "bronze"}, "message": "bronze"}
    yield from _package("odd", {"1.0.0": [_constraint(both), _constraint(either), _constraint(equal)]})
    yield from _package("several", {"1.0.0": [_needs("d", "<2.0.0"), _needs("d", ">=2.0.0")]})
    yield from _package("rival", {"1.0.0": [_api()]})
    yield from _package("many", {f"{n}.0.0": [_needs("d", f">={n}.5.0")] for n in range(3, 13)})
    skipping = [{"name": "left.v1"}, {"name": "left.v2", "skips": ["left.v1"]}]
    yield from _package(
        "left", {"1.0.0": [], "2.0.0": [_constraint({"all": {"constraints": [_kind("left", "1.0.0")]}})]}
    )
    yield {"schema": "olm.channel", "package": "left", "name": "other", "entries": skipping}
    yield from _package("old", {"1.0.0": [_deprecated()]})


def _faults() -> Iterator[Object | str]:
    yield '{"schema": "olm.package", "name": "p", "defaultChannel": "x"}'
    yield '{"schema": "olm.package", "name": "p", "defaultChannel": "y"}'
    yield '{"schema": "olm.bundle", "name": "alone", "package": "p"}'
    yield '{"schema": "olm.bundle", "name": "twice", "package": "p"}'
    yield {"schema": "olm.bundle", "name": "twice", "package": "p", "properties": [_label("x")]}
    yield '{"schema": "olm.bundle", "name": 7}'
    yield '{"name": "without"}'
    yield '{"schema": "olm.channel", "package": "p", "name": "c", "entries": 7}'
    yield _channel("p", "c", ["gone"])
    yield _channel("p", "c", ["twice"])
    yield _channel("p", "e", ["twice", "twice"])
    yield '{"schema": "olm.deprecations", "package": "p", "entries": 7}'
    deep: Any = []
    for _ in range(200):
        deep = [deep]
    yield {"schema": "olm.bundle", "name": "deep", "package": "p", "properties": [{"type": "t", "value": deep}]}
    yield "{nothing"
    odd: list[Object] = [
        {"cell": 1},
        {},
        {"cel": {"rule": "("}},
        {"cel": {"rule": "1"}},
        {"gvk": {"kind": "K"}, "cel": {"rule": "true"}},
        {"Label": {"label": "x"}},
        {"any": {}},
        {"not": {"constraints": [_kind("q", "1.x")]}},
        {"cel": {"rule": "true"}},
        _kind("q", "1.0.0 - 2.0.0"),
        _kind("q", "!1.x"),
        _kind("q", "<2.0.0"),
    ]
    properties = [*map(_constraint, odd), _needs("d", "^1"), {"type": "olm.constraint.new", "value": 1}]
    yield from _package("q", {"1.0.0": properties, "2.0.0": [_needs("q", "1.0.0"), _needs("q", "2.0.0")]})


def _package(name: str, versions: dict[str, list[Object]], *, edges: bool = True) -> Iterator[Object]:
    names = [f"{name}.v{version.removesuffix('.0.0')}" for version in versions]
    yield {"schema": "olm.package", "name": name, "defaultChannel": "stable"}
    yield _channel(name, "stable", names, edges=edges)
    for each, (version, properties) in zip(names, versions.items(), strict=True):
        own = {"type": "olm.package", "value": {"packageName": name, "version": version}}
        yield {"schema": "olm.bundle", "name": each, "package": name, "properties": [own, *properties]}


def _channel(package: str, name: str, bundles: list[str], *, edges: bool = True) -> Object:
    entries: list[Object] = []
    for at, each in enumerate(bundles):
        entries.append({"name": each, **({"replaces": bundles[at - 1]} if at and edges else {})})
    return {"schema": "olm.channel", "package": package, "name": name, "entries": entries}


def _needs(package: str, wanted: str = ">=0.0.0") -> Object:
    return {"type": "olm.package.required", "value": {"packageName": package, "versionRange": wanted}}


def _kind(package: str, wanted: str) -> Object:
    return {"package": {"packageName": package, "versionRange": wanted}}


def _constraint(value: Object) -> Object:
    return {"type": "olm.constraint", "value": value}


def _api() -> Object:
    return {"type": "olm.gvk", "value": {"group": "g", "version": "v1", "kind": "K"}}


def _label(label: str) -> Object:
    return {"type": "olm.label", "value": {"label": label}}


def _deprecated() -> Object:
    return {"type": "olm.deprecated", "value": {}}


def _said_of(schema: str, name: str, message: str) -> Object:
    return {"reference": {"schema": schema, "name": name}, "message": message}
