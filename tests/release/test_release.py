"""A release as a whole: its list of checksums is right, and the bill of materials names all that is in it."""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
from pathlib import Path

import pytest
import yaml
from release.image.debian import PACKAGES, locked
from release.source import ReleaseError, checked_out
from release.tarballs import Tree, packed

from tests.release.made import FOLDER, needs_release, one

ROOT = Path(__file__).resolve().parents[2]


def test_the_lock_of_the_image_names_every_package_with_a_checksum() -> None:
    found = locked()
    assert tuple(each.name for each in found) == PACKAGES
    assert all(re.fullmatch(r"[0-9a-f]{64}", each.sha256) for each in found)


def test_archives_do_not_depend_on_order_times_or_owners(tmp_path: Path) -> None:
    for folder, names in (("one", ("b", "a")), ("two", ("a", "b"))):
        for name in names:
            path = tmp_path / folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(name, encoding="utf-8")
    archives = []
    for folder in ("one", "two"):
        tree = Tree(1_700_000_000)
        tree.add(tmp_path / folder)
        tree.link("c", "a")
        archives.append(packed(tree.tar()))
    assert archives[0] == archives[1]
    with tarfile.open(fileobj=io.BytesIO(archives[0])) as tar:
        assert [(each.name, each.mtime, each.uid, each.mode) for each in tar] == [
            ("a", 1_700_000_000, 0, 0o644),
            ("b", 1_700_000_000, 0, 0o644),
            ("c", 1_700_000_000, 0, 0o777),
        ]


def test_a_tag_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"git does not know 'v9\.9\.9'"):
        checked_out("v9.9.9", tmp_path / "source")


@needs_release
def test_the_checksums_are_those_of_the_files_and_nothing_is_missing() -> None:
    lines = (Path(FOLDER) / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    listed = {name: digest for digest, name in (line.split("  ") for line in lines)}
    files = {path.name for path in Path(FOLDER).iterdir() if path.is_file()} - {"SHA256SUMS"}
    assert set(listed) == files
    for name, digest in listed.items():
        assert hashlib.sha256((Path(FOLDER) / name).read_bytes()).hexdigest() == digest
    kinds = (
        "*.whl",
        "muster_hub-*.tar.gz",
        "*.oci.tar",
        "release.yaml",
        "muster-chart-*.tgz",
        "*.cdx.json",
        "muster.krew.yaml",
    )
    assert all(one(pattern) for pattern in (*kinds, "muster-docs-*.tar.gz", "muster-deploy-*.tar.gz"))


@needs_release
def test_the_guide_lists_every_file_with_about_its_size() -> None:
    page = (ROOT / "docs" / "guides" / "releasing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| ([\d.]+) (kB|MB) \|", page, re.MULTILINE)
    told = {name: float(number) * {"kB": 1e3, "MB": 1e6}[unit] for name, number, unit in rows}
    version = re.search(r"muster-chart-(.+)\.tgz", one("muster-chart-*.tgz").name)
    assert version is not None
    files = [path for path in Path(FOLDER).iterdir() if path.is_file() and path.name != "SHA256SUMS"]
    sizes = {path.name.replace(version[1], "VERSION"): path.stat().st_size for path in files}
    assert told.keys() == sizes.keys()
    assert {name: size for name, size in sizes.items() if not 0.75 <= size / told[name] <= 1.25} == {}


@needs_release
def test_the_bill_of_materials_names_every_package_of_the_locks() -> None:
    bill = json.loads(one("*.cdx.json").read_text(encoding="utf-8"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    urls = [each["purl"] for each in bill["components"]]
    assert len(urls) == len(set(urls))
    pinned = re.findall(
        r"^([\w.-]+)(?:\[[^\]]*\])?==(\S+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE
    )
    wheels = {each for each in urls if each.startswith("pkg:pypi/")}
    assert wheels == {f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}" for name, version in pinned}
    assert sum(each.startswith("pkg:deb/") for each in urls) == len(PACKAGES)
    assert all(each["licenses"] for each in bill["components"])


@needs_release
def test_the_manifests_are_objects_and_the_chart_is_the_one_in_the_clone() -> None:
    objects = list(yaml.safe_load_all((Path(FOLDER) / "release.yaml").read_text(encoding="utf-8")))
    assert {"Deployment", "CustomResourceDefinition", "Namespace"} <= {each["kind"] for each in objects}
    with tarfile.open(one("muster-chart-*.tgz")) as tar:
        chart = tar.extractfile("muster/Chart.yaml")
        assert chart is not None
        assert yaml.safe_load(chart.read())["name"] == "muster"
