"""Resolutions are read when they are written, in the words of the command line."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from muster.admission import validate
from muster.api.codec import encode
from muster.cli.resolve.command import app
from tests.admission.writes import Nothing, a_write

if TYPE_CHECKING:
    from pathlib import Path

    from muster.admission import Finding

GROUP = "resolution.muster.dev"


def resolution(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "r", "namespace": "apps"}
    return {"apiVersion": f"{GROUP}/v1alpha1", "kind": "Resolution", "metadata": metadata, "spec": spec}


def checked(new: dict[str, Any], old: dict[str, Any] | None = None, **more: Any) -> Finding:
    return asyncio.run(validate(a_write("resolutions", new, old, GROUP, **more), Nothing()))


def causes(**spec: Any) -> list[str]:
    found = checked(resolution(**spec))
    return [str(cause) for cause in found.refusal.causes] if found.refusal is not None else []


def with_property(*properties: Any) -> dict[str, Any]:
    blob = {"schema": "olm.bundle", "name": "a.v1", "package": "a", "properties": list(properties)}
    channel = {"schema": "olm.channel", "package": "a", "name": "stable", "entries": [{"name": "a.v1"}]}
    return {"catalogs": [{"name": "ours", "inline": [channel, blob]}]}


def test_a_resolution_that_can_be_read_is_let_through() -> None:
    fine = with_property({"type": "olm.constraint", "value": {"cel": {"rule": "properties.size() > 0"}}})
    wants = [{"package": "a", "range": ">=1.0.0", "catalog": "ours"}, {"package": "b", "pin": "1.2.3"}]
    found = checked(resolution(**fine, wants=wants, installed=[{"name": "a.v0", "version": "0.9"}]))
    assert (found.refusal, found.warnings) == (None, ())


def test_ranges_versions_and_names_are_checked() -> None:
    assert causes(
        catalogs=[{"name": "ours", "inline": [], "configMap": {"name": "x"}}],
        wants=[
            {"package": "a", "range": "^1.0.0"},
            {"package": "b", "pin": "1.x"},
            {"package": "c", "pin": "1.0.0", "range": ">1.0.0"},
            {"package": "d", "catalog": "theirs"},
        ],
        installed=[{"name": "e.v1", "version": "one"}],
    ) == [
        "spec.catalogs[0].configMap: Forbidden: may not be given together with inline",
        'spec.wants[0].range: Invalid value: "^1.0.0": Could not parse Range "^1.0.0": Could not parse'
        ' comparator "^" in "^1.0.0"',
        'spec.wants[1].pin: Invalid value: "1.x": No Major.Minor.Patch elements found',
        "spec.wants[2].pin: Forbidden: may not be given together with range",
        'spec.wants[3].catalog: Invalid value: "theirs": is none of spec.catalogs',
        'spec.installed[0].version: Invalid value: "one": Invalid character(s) found in major number "0one"',
    ]


BAD = {
    "cell": {"type": "olm.constraint", "value": {"cell": {"rule": "true"}}},
    "rule": {"type": "olm.constraint.cel", "value": {"rule": "properties.exists(p, p.typ"}},
    "nested": {
        "type": "olm.constraint",
        "value": {"all": {"constraints": [{"package": {"packageName": "x", "versionRange": "~1"}}]}},
    },
    "older": {"type": "olm.package.required", "value": {"packageName": "x", "versionRange": "1"}},
    "action": {"type": "olm.constraint", "value": {"cel": {"rule": "true"}, "action": {"id": "prohibit"}}},
    "large": {"type": "olm.constraint", "value": {"cel": {"rule": "true"}, "failureMessage": "x" * 131_072}},
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_constraint_is_refused_with_the_command_lines_error(name: str, tmp_path: Path) -> None:
    file = tmp_path / "bundle.json"
    file.write_bytes(encode({"properties": [BAD[name]]}))
    printed = CliRunner().invoke(app, ["constraints", str(file)]).stderr.strip()
    pointer, _, reason = printed.removeprefix(f"{file}#").partition(": ")
    (cause,) = causes(**with_property(BAD[name]))
    path = pointer.replace("/constraints/0", "/constraints[0]").replace("/properties/0", "/properties[0]")
    assert cause == f"spec.catalogs[0].inline[1]{path.replace('/', '.')}: Invalid value: {reason}"


def test_pointers_follow_the_spelling() -> None:
    fields = [causes(**with_property(BAD[name]))[0].partition(": ")[0] for name in ("rule", "nested", "older")]
    assert [field.removeprefix("spec.catalogs[0].inline[1].properties[0].value") for field in fields] == [
        ".rule",
        ".all.constraints[0].package.versionRange",
        ".versionRange",
    ]


def test_installed_bundles_are_checked_too() -> None:
    installed = [{"name": "e.v1", "properties": [BAD["cell"], "text"]}]
    assert [each.partition(": ")[0] for each in causes(installed=installed)] == [
        "spec.installed[0].properties[0].value.cell",
        "spec.installed[0].properties[1]",
    ]


def test_checking_is_bounded() -> None:
    rules = [{"type": "olm.constraint", "value": {"cel": {"rule": f"properties.size() > {n}"}}} for n in range(300)]
    assert causes(**with_property(*rules)) == [
        "spec.catalogs[0].inline[1].properties: Too many: 257: must have at most 256 items"
    ]
    wrong = [{"type": "olm.constraint", "value": {"cell": n}} for n in range(300)]
    assert len(causes(**with_property(*wrong))) == 32


def test_what_is_contained_is_a_warning() -> None:
    loop = [{"name": "a.v1", "replaces": "a.v2"}, {"name": "a.v2", "replaces": "a.v1"}]
    channel = {"schema": "olm.channel", "package": "a", "name": "stable", "entries": loop}
    bundles = [{"schema": "olm.bundle", "name": name, "package": "a"} for name in ("a.v1", "a.v2", "a.v3")]
    found = checked(resolution(catalogs=[{"name": "ours", "inline": [channel, *bundles]}]))
    assert found.refusal is None
    assert [each[:55] for each in found.warnings] == [
        "catalog ours: blob 3: bundle a.v3 is in no channel of p",
        "catalog ours: no channel heads (entries not replaced by",
    ]


def test_an_object_that_was_stored_stays_writable() -> None:
    stored = resolution(wants=[{"package": "a", "range": "^1"}])
    labelled = {**stored, "metadata": {**stored["metadata"], "labels": {"a": "b"}}}
    assert checked(labelled, stored).refusal is None
    assert checked(stored, subresource="status").refusal is None
    changed = resolution(wants=[{"package": "a", "range": "^2"}])
    assert checked(changed, stored).refusal is not None
