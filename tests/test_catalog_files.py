"""Catalogs from files: every manner of writing them, and what cannot be read."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from muster.catalog_files import content_digest, fingerprint, read_path
from muster.errors import InvalidObjectError
from muster.resolution import CatalogBuilder
from tests.resolution.builders import blobs, needs

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path) -> tuple[list[str], list[str]]:
    """The names of the bundles, and the faults."""
    builder = CatalogBuilder("cat")
    read_path(path, builder)
    built = builder.build()
    return sorted({entry.name for entry in built.entries}), [str(fault) for fault in built.faults]


def test_malformed_json_in_the_middle_of_a_stream_spoils_only_its_blob(tmp_path: Path) -> None:
    lines = [json.dumps(blob) for blob in blobs()]
    file = tmp_path / "cat.ndjson"
    file.write_text("\n".join([*lines[:4], '{"schema": "olm.bundle", ', *lines[4:]]))
    names, faults = read(file)
    assert names == ["a.v1", "a.v2", "d.v1", "d.v2"]
    assert len(faults) == 1
    assert faults[0].startswith(f"{file}:5: not valid JSON")


@pytest.mark.parametrize("indent", [None, 0, 1, 4, "\t"])
@pytest.mark.parametrize("between", ["\n", "", "\n\n"])
def test_objects_may_be_printed_in_any_manner(indent: Any, between: str, tmp_path: Path) -> None:
    texts = [json.dumps(blob, indent=indent) for blob in blobs(needs("d"))]
    file = tmp_path / "cat.json"
    file.write_text(between.join(texts))
    assert read(file) == (["a.v1", "a.v2", "d.v1", "d.v2"], [])


def test_a_truncated_object_spoils_no_other_however_it_is_printed(tmp_path: Path) -> None:
    for indent in (0, 4):
        texts = [json.dumps(blob, indent=indent) for blob in blobs()]
        file = tmp_path / "cat.json"
        file.write_text("\n".join([*texts[:4], texts[4][:-4], *texts[4:]]))
        names, faults = read(file)
        assert (names, len(faults)) == (["a.v1", "a.v2", "d.v1", "d.v2"], 1)
        assert "not valid JSON" in faults[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
            "with its aliases written out the text has more than",
        ),
        ("x: " + "[" * 40_000, "values nest deeper than 100 levels"),
        ("- " * 40_000, "values nest deeper than 100 levels"),
        ("a: &a [*a]", "a value contains itself through *a"),
        ("schema: olm.package\nname: &n foo\ndefaultChannel: *n\n---\na: *n", "found undefined alias"),
    ],
)
def test_aliases_that_stand_for_too_much_are_a_fault(text: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "cat.yaml"
    file.write_text(text)
    _, faults = read(file)
    assert len(faults) == 1
    assert reason in faults[0]


def test_a_broken_gzip_file_is_a_fault(tmp_path: Path) -> None:
    whole = gzip.compress(b"\n".join(json.dumps(blob).encode() for blob in blobs()))
    (tmp_path / "cut.json.gz").write_bytes(whole[:-20])
    (tmp_path / "none.json.gz").write_bytes(b"no gzip")
    _, faults = read(tmp_path)
    assert [fault.rpartition("/")[2].partition(":")[0] for fault in faults if "gzip file" in fault] == [
        "cut.json.gz",
        "none.json.gz",
    ]


def test_a_broken_yaml_document_spoils_no_other(tmp_path: Path) -> None:
    documents = [yaml.safe_dump(blob) for blob in blobs()]
    file = tmp_path / "cat.yaml"
    file.write_text("---\n".join([*documents[:4], "a: [\n", *documents[4:]]))
    names, faults = read(file)
    assert names == ["a.v1", "a.v2", "d.v1", "d.v2"]
    assert len(faults) == 1
    assert "not valid YAML" in faults[0]


def test_blobs_may_be_pretty_printed_concatenated_compressed_or_in_directories(tmp_path: Path) -> None:
    texts = [json.dumps(blob) for blob in blobs()]
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "catalog.json").write_text("\n".join(json.dumps(blob, indent=4) for blob in blobs()[:4]))
    (tmp_path / "two.json").write_text("".join(texts[4:6]))
    (tmp_path / "three.ndjson.gz").write_bytes(gzip.compress("\n".join(texts[6:]).encode()))
    (tmp_path / ".hidden.json").write_text("{")
    assert read(tmp_path) == (["a.v1", "a.v2", "d.v1", "d.v2"], [])


def test_a_bundle_directory_is_a_catalog(tmp_path: Path) -> None:
    for part in ("manifests", "metadata"):
        (tmp_path / "b" / part).mkdir(parents=True)
    csv = {"kind": "ClusterServiceVersion", "metadata": {"name": "b.v1"}, "spec": {"version": "1.0.0"}}
    (tmp_path / "b" / "manifests" / "csv.yaml").write_text(yaml.safe_dump(csv))
    annotations = {"annotations": {"operators.operatorframework.io.bundle.package.v1": "b"}}
    (tmp_path / "b" / "metadata" / "annotations.yaml").write_text(yaml.safe_dump(annotations))
    assert read(tmp_path) == (["b.v1"], [])
    (tmp_path / "b" / "metadata" / "annotations.yaml").write_text("{}")
    assert "has no annotations" in read(tmp_path)[1][0]


def test_a_broken_bundle_directory_spoils_no_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        for part in ("manifests", "metadata"):
            (tmp_path / name / part).mkdir(parents=True)
        csv = {"kind": "ClusterServiceVersion", "metadata": {"name": f"{name}.v1"}, "spec": {"version": "1.0.0"}}
        (tmp_path / name / "manifests" / "csv.yaml").write_text(yaml.safe_dump(csv) if name == "a" else "a: [")
        annotations = {"annotations": {"operators.operatorframework.io.bundle.package.v1": name}}
        (tmp_path / name / "metadata" / "annotations.yaml").write_text(yaml.safe_dump(annotations))
    names, faults = read(tmp_path)
    assert names == ["a.v1"]
    assert len(faults) == 1
    assert "csv.yaml:2: not valid YAML" in faults[0]


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidObjectError, match="no blobs"):
        read(tmp_path)
    with pytest.raises(InvalidObjectError, match="no such file or directory"):
        read(tmp_path / "nowhere")


def test_a_change_of_a_file_shows_and_a_touch_changes_no_contents(tmp_path: Path) -> None:
    file = tmp_path / "sub" / "a.json"
    file.parent.mkdir()
    file.write_text("{}")
    before, contents = fingerprint(tmp_path), content_digest(tmp_path)
    file.touch()
    assert (fingerprint(tmp_path) == before, content_digest(tmp_path) == contents) == (False, True)
    file.write_text("{ }")
    assert content_digest(tmp_path) != contents
    assert fingerprint(tmp_path / "nowhere") == ""
