"""`muster resolve`, its catalogs from files, and its two subcommands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from typer.testing import CliRunner

from muster.cli.inputs.catalogs import named_catalogs
from muster.cli.resolve.command import app
from muster.errors import InvalidObjectError
from tests.resolution.builders import blobs

if TYPE_CHECKING:
    from pathlib import Path

    from typer.testing import Result


NEEDS_D = {"type": "olm.package.required", "value": {"packageName": "d", "versionRange": ">=1.0.0"}}
NEEDS_D9 = {"type": "olm.package.required", "value": {"packageName": "d", "versionRange": ">=9.0.0"}}


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    file = tmp_path / "cat.json"
    file.write_text("\n".join(json.dumps(blob, indent=2) for blob in blobs(NEEDS_D)))
    return file


def run(*args: object) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args], catch_exceptions=False)


def test_a_plan_is_printed_as_a_tree(catalog: Path) -> None:
    result = run("-c", catalog, "-w", "a")
    assert (result.exit_code, result.stdout.splitlines()) == (
        0,
        [
            "2 to install",
            "+ a.v2 from cat, channel stable",
            "    because you want a",
            "    + d.v2 from cat, channel stable",
            "        because a.v2 needs an operator of package d in >=1.0.0",
        ],
    )


def test_a_plan_is_printed_for_machines(catalog: Path) -> None:
    value = json.loads(run("-c", catalog, "-w", "a", "-o", "json").stdout)
    assert value["outcome"] == "resolved"
    assert [(step["action"], step["name"]) for step in value["plan"]] == [("install", "a.v2"), ("install", "d.v2")]
    assert yaml.safe_load(run("-c", catalog, "-w", "a", "-o", "yaml").stdout) == value
    assert value["plan"][0]["reasons"] == {
        "askedBy": [{"code": "Wanted", "subject": {"package": "a"}, "parameters": {"want": "a"}}]
    }


def test_no_answer_exits_with_1_and_tells_why_and_what_helps(tmp_path: Path) -> None:
    file = tmp_path / "cat.ndjson"
    file.write_text("\n".join(json.dumps(blob) for blob in blobs(NEEDS_D9)))
    result = run("-c", file, "-w", "a@>=2.0.0")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "No answer.",
        "  Because you want a@>=2.0.0 (which can be 2.0.0)",
        "  and a 2.0.0 needs an operator of package d in >=9.0.0, and there is none",
        "      d is there in 1.0.0 to 2.0.0",
        "  there is no set of operators that meets all of this.",
        "",
        "Each of these would help (tried):",
        "  - allow a 1.0.0",
    ]
    value = json.loads(run("-c", file, "-w", "a@>=2.0.0", "-o", "json").stdout)
    assert (value["outcome"], value["fixes"]) == ("impossible", ["allow a 1.0.0"])
    assert value["reasons"] == {
        "fixes": [{"code": "AllowVersion", "subject": {"package": "a"}, "parameters": {"version": "1.0.0"}}],
        "faults": [],
    }
    assert [each["reason"]["code"] for each in value["facts"]] == ["WantPossible", "VersionsNeedUnmet"]
    assert value["facts"][1]["reasons"]["details"] == [
        {"code": "VersionsPresent", "subject": {"package": "d"}, "parameters": {"versions": ["1.0.0 to 2.0.0"]}}
    ]


def test_upstreams_words_are_had_in_compatibility_mode(tmp_path: Path) -> None:
    file = tmp_path / "cat.ndjson"
    file.write_text("\n".join(json.dumps(blob) for blob in blobs(NEEDS_D9, versions=1)))
    result = run("-c", file, "-w", "a", "--compat", "olm-v0")
    assert (result.exit_code, result.stdout) == (
        1,
        "constraints not satisfiable: bundle a.v1 requires an operator with package: d and with version in range:"
        " >=9.0.0, subscription a exists, subscription a requires cat/default/stable/a.v1\n",
    )


def test_a_lock_is_written_compared_and_followed(catalog: Path, tmp_path: Path) -> None:
    lock = tmp_path / "lock.yaml"
    assert run("-c", catalog, "-w", "a", "--lock", lock).exit_code == 0
    names = [each["name"] for each in yaml.safe_load(lock.read_text())["operators"]]
    assert names == ["a.v2", "d.v2"]
    newer = tmp_path / "new" / "cat.json"
    newer.parent.mkdir()
    newer.write_text("\n".join(json.dumps(blob) for blob in blobs(NEEDS_D, versions=3)))
    with pytest.raises(InvalidObjectError, match=r"a\.v2 has changed in cat since it was locked"):
        run("-c", newer, "-w", "a", "--lock", lock, "--locked")
    with pytest.raises(InvalidObjectError, match="there is no lock file to go by"):
        run("-c", newer, "-w", "a", "--lock", tmp_path / "none.yaml", "--locked")
    followed = run("-c", catalog, "-w", "a", "--lock", lock, "--locked")
    assert followed.stdout == run("-c", catalog, "-w", "a").stdout
    changed = run("-c", newer, "-w", "a@<=2.0.0", "--lock", lock)
    assert "- d d.v2 (stable)" in changed.output


def test_installed_bundles_are_read_and_updated(catalog: Path, tmp_path: Path) -> None:
    file = tmp_path / "installed.yaml"
    file.write_text("- name: a.v1\n")
    assert run("-c", catalog, "-w", "a", "--installed", file).stdout.splitlines()[:2] == [
        "1 to install, 1 to update",
        "^ a.v2 from cat, channel stable, replaces a.v1",
    ]


def test_pictures_and_explanations(catalog: Path, tmp_path: Path) -> None:
    picture = tmp_path / "plan.svg"
    assert run("-c", catalog, "-w", "a", "--graph", picture).exit_code == 0
    assert picture.read_text().startswith("<svg")
    assert "n0 --> n1" in run("-c", catalog, "-w", "a", "--graph", "-").stdout
    assert run("-c", catalog, "-w", "a", "--explain", "d").stdout.startswith("d: d.v2 is chosen\n")


def test_facts_of_the_cluster_are_given_on_the_command_line(tmp_path: Path) -> None:
    asks = {
        "type": "olm.constraint.cel",
        "value": {"rule": "properties.exists(p, p.type == 'arch' && p.value == 'arm64')"},
    }
    file = tmp_path / "cat.ndjson"
    file.write_text("\n".join(json.dumps(blob) for blob in blobs(asks, versions=1)))
    assert run("-c", file, "-w", "a").exit_code == 1
    assert run("-c", file, "-w", "a", "--fact", "arch=arm64").exit_code == 0


def test_constraints_are_printed_in_one_spelling(tmp_path: Path) -> None:
    file = tmp_path / "dependencies.yaml"
    file.write_text(
        "dependencies:\n"
        "- {type: olm.package, value: {packageName: d, version: 1.x}}\n"
        "- {type: olm.constraint, value: {evaluator: {id: cel}, rule: 'true', message: m}}\n"
        "- {type: olm.constraint, value: {cell: {}}}\n"
    )
    result = run("constraints", file, "--shipped")
    assert result.exit_code == 1
    assert yaml.safe_load(result.stdout) == [
        {"type": "olm.constraint", "value": {"package": {"packageName": "d", "versionRange": "1.x"}}},
        {"type": "olm.constraint", "value": {"failureMessage": "m", "cel": {"rule": "true"}}},
    ]
    assert "dependencies.yaml#/dependencies/2/value/cell: unknown field 'cell'; did you mean cel?" in result.stderr


def test_lint_names_file_line_and_pointer(tmp_path: Path) -> None:
    file = tmp_path / "cat.ndjson"
    file.write_text("\n".join(json.dumps(blob) for blob in blobs({"type": "olm.constraint", "value": {"cell": 1}})))
    result = run("lint", file)
    assert (result.exit_code, result.stdout) == (
        1,
        f"{file}:4#/properties/1/value/cell: error: a.v2: unknown field 'cell'; did you mean cel?\n",
    )


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (["-w", "a"], "say where to choose from"),
        (["-c", "CAT"], "say what is wanted"),
        (["-c", "CAT", "-c", "CAT", "-w", "a"], "two catalogs are called cat"),
        (["-c", "/nowhere", "-w", "a"], "no such file or directory"),
        (["-c", "CAT", "-w", "a@"], "is not package"),
        (["-c", "CAT", "-w", "a", "--priority", "x"], "is not NAME=NUMBER"),
        (["-c", "CAT", "-w", "a", "--fact", "x"], "is not TYPE=VALUE"),
        (["-c", "CAT", "-w", "a", "--fact", "x=["], "is not valid YAML"),
        (["-c", "CAT", "-w", "a", "--optional", "x"], "is none of install, only-if-present, ignore"),
        (["-c", "CAT", "-w", "a", "--compat", "x"], "is none of muster, olm-v0"),
        (["-c", "CAT", "-w", "a", "--installed", "CAT"], "not valid YAML"),
        (["-c", "CAT", "-w", "a", "--lock", "/nowhere/lock"], "No such file or directory"),
        (["constraints", "/nowhere"], "No such file or directory"),
    ],
)
def test_bad_input_is_refused_with_a_reason(catalog: Path, args: list[str], reason: str) -> None:
    with pytest.raises(InvalidObjectError, match=reason):
        run(*(str(catalog) if arg == "CAT" else arg for arg in args))


def test_what_cannot_be_used_is_a_warning_or_with_strict_an_error(tmp_path: Path) -> None:
    file = tmp_path / "cat.ndjson"
    bad = {"type": "olm.constraint", "value": {"cell": 1}}
    file.write_text("\n".join(json.dumps(blob) for blob in blobs(bad)))
    result = run("-c", file, "-w", "a")
    assert result.exit_code == 0
    assert f"warning: {file}:4#/properties/1/value/cell: a.v2: unknown field 'cell'" in result.stderr
    assert "note: a falls back from a.v2 to a.v1" in result.stdout
    with pytest.raises(InvalidObjectError, match="unknown field 'cell'"):
        run("-c", file, "-w", "a", "--strict")
    refused = run("-c", file, "-w", "a", "--compat", "olm-v0")
    assert (refused.exit_code, refused.stderr) == (1, 'parse olm.constraint: json: unknown field "cell"\n')


def test_what_a_bundle_is_is_no_constraint(tmp_path: Path) -> None:
    file = tmp_path / "catalog.yaml"
    file.write_text("\n---\n".join(json.dumps(blob) for blob in blobs(NEEDS_D)))
    result = run("constraints", file, "-o", "json")
    assert (result.exit_code, json.loads(result.stdout)) == (
        0,
        [
            {
                "kind": "package",
                "package": {"packageName": "d", "versionRange": ">=1.0.0"},
                "message": None,
                "action": {"id": "require", "optional": False},
                "origin": {"bundle": "a.v2", "pointer": "/properties/1", "syntax": "legacy"},
            }
        ],
    )
    alone = tmp_path / "one.json"
    alone.write_text(json.dumps({"type": "olm.package", "value": {"packageName": "d", "version": ">=1.0.0"}}))
    assert [each["origin"] for each in yaml.safe_load(run("constraints", alone).stdout)] == [
        {"pointer": "", "syntax": "legacy"}
    ]


def test_a_want_may_begin_at_a_bundle_or_a_version(catalog: Path) -> None:
    for begin in ("a.v1", "1.0.0"):
        assert "+ a.v1 from cat, channel stable" in run("-c", catalog, "-w", "a", "--starting", f"a={begin}").stdout
    with pytest.raises(InvalidObjectError, match=r"'d=d\.v1' is not PACKAGE=BUNDLE of a package that is wanted"):
        run("-c", catalog, "-w", "a", "--starting", "d=d.v1")


def test_a_version_that_yaml_takes_for_a_number_is_a_warning(catalog: Path) -> None:
    assert (
        "--fact kubernetes=1.30 is the number 1.3;" in run("-c", catalog, "-w", "a", "--fact", "kubernetes=1.30").stderr
    )
    assert run("-c", catalog, "-w", "a", "--fact", 'kubernetes="1.30"', "--fact", "n=1.5").stderr == ""


def test_a_range_that_cannot_be_read_is_bad_input(catalog: Path) -> None:
    with pytest.raises(InvalidObjectError, match=r"'\^1' is no range: .*; ranges are written like >=1.2.0 <2.0.0"):
        run("-c", catalog, "-w", "a@^1")


def test_programs_get_every_outcome(catalog: Path, tmp_path: Path) -> None:
    late = run("-c", catalog, "-w", "a", "--time-limit", "-1", "-o", "json")
    why = {"code": "NotDecided", "parameters": {"seconds": "-1"}}
    assert json.loads(late.stdout) == {"outcome": "undecided", "text": "not decided in -1 s", "reason": why}
    old = run("-c", catalog, "-w", "nope", "--compat", "olm-v0", "-o", "json")
    assert json.loads(old.stdout)["text"].startswith("constraints not satisfiable: no operators found in package nope")
    file = tmp_path / "bad.json"
    file.write_text("\n".join(map(json.dumps, blobs({"type": "olm.constraint", "value": {"cell": {}}}))))
    refused = run("-c", file, "-w", "a", "--compat", "olm-v0", "-o", "json")
    assert json.loads(refused.stdout)["outcome"] == "refused"
    assert json.loads(refused.stdout)["reason"] == {
        "code": "InputRefused",
        "parameters": {"faults": ['parse olm.constraint: json: unknown field "cell"']},
    }


def test_programs_get_an_explanation_as_reasons(catalog: Path) -> None:
    value = json.loads(run("-c", catalog, "-w", "a", "--explain", "d", "-o", "json").stdout)
    assert value["reason"] == {"code": "BundleChosen", "subject": {"package": "d", "bundle": "d.v2"}}
    assert [each["code"] for each in value["reasons"]["askedBy"]] == ["OperatorNeeded"]
    assert [each["code"] for each in value["reasons"]["others"]] == ["LessPreferred"]
    assert value["text"] + "\n" == run("-c", catalog, "-w", "a", "--explain", "d").stdout


def test_a_picture_on_standard_output_comes_alone(catalog: Path) -> None:
    assert run("-c", catalog, "-w", "a", "--graph", "-").stdout.splitlines()[0] == "flowchart TD"


def test_findings_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "cat.json"
    file.write_text("\n".join(json.dumps({"schema": "olm.bundle", "name": f"b{n}", "package": "p"}) for n in range(12)))
    places = [line.rpartition(": error")[0] for line in run("lint", file).stdout.splitlines()]
    assert places == [f"{file}:{line}" for line in range(1, 13)]


@pytest.mark.parametrize("argument", ["community", "=x", "a=", "a=/no/such/path"])
def test_the_hubs_catalogs_have_a_name_and_a_path_that_is_there(argument: str, tmp_path: Path) -> None:
    assert named_catalogs([f"a={tmp_path}"]) == {"a": tmp_path.resolve()}
    with pytest.raises(InvalidObjectError, match="--catalog"):
        named_catalogs([argument])
    with pytest.raises(InvalidObjectError, match="two catalogs are called a"):
        named_catalogs([f"a={tmp_path}", f"a={tmp_path}"])


def test_time_that_is_up_is_said(catalog: Path) -> None:
    result = run("-c", catalog, "-w", "a", "--time-limit", "-1")
    assert (result.exit_code, result.stderr) == (1, "not decided in -1 s\n")
