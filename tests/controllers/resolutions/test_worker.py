"""What a worker makes of a job: every fault is an answer, and none tells where things are on the server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from muster.controllers.resolutions.jobs import CatalogInput, Job
from muster.controllers.resolutions.worker import CatalogCache, work_on
from muster.resolution.to_status import Verdict
from tests.resolution.builders import blobs

if TYPE_CHECKING:
    from pathlib import Path

    from muster.resolution.to_status import Answer


def worked(spec: Any, *catalogs: CatalogInput) -> Answer:
    return work_on(Job(msgspec.Raw(json.dumps(spec).encode()), list(catalogs)), CatalogCache())


def test_files_of_the_hub_are_called_by_the_name_of_their_catalog(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("\n".join(map(json.dumps, blobs())))
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.yaml").write_text("{: broken\n")
    bundle = tmp_path / "bundle"
    for name in ("manifests", "metadata"):
        (bundle / name).mkdir(parents=True)
    found = worked({"wants": [{"package": "a"}]}, CatalogInput("community", path=str(tmp_path), fingerprint="1"))
    assert found.conditions["Resolved"][:2] == ("True", "Resolved")
    assert found.status.problems == (
        "community/bundle: community/bundle/manifests: no ClusterServiceVersion among the manifests",
        "community/deep/b.yaml:1: not valid YAML: did not find expected node content",
    )
    assert [(each.of, each.code) for each in found.status.reasons] == [
        ("problem", "BundleDirectoryInvalid"),
        ("problem", "YamlInvalid"),
    ]


def test_a_file_that_the_system_does_not_give_is_told_by_the_name_of_its_catalog(tmp_path: Path) -> None:
    (tmp_path / "a.json").symlink_to(tmp_path / "nowhere")
    found = worked({"wants": [{"package": "a"}]}, CatalogInput("community", path=str(tmp_path), fingerprint="1"))
    assert found.status.problems == ("catalog community: [Errno 2] No such file or directory: 'community/a.json'",)
    assert str(tmp_path).encode() not in msgspec.json.encode(found)


def test_a_spec_that_another_schema_let_in_is_refused_with_its_field() -> None:
    found = worked({"wants": [{"package": 7}]})
    assert found.conditions["Resolved"] == Verdict(
        "False", "InvalidSpec", "spec.wants[0].package: expected a string, not a number"
    )


BLOBS = [
    {"schema": "olm.package", "name": "etcd", "defaultChannel": "stable"},
    {"schema": "olm.channel", "package": "etcd", "name": "stable", "entries": [{"name": "etcd.v1.0.0"}]},
    {
        "schema": "olm.bundle",
        "name": "etcd.v1.0.0",
        "package": "etcd",
        "properties": [{"type": "olm.package", "value": {"packageName": "etcd", "version": "1.0.0"}}],
    },
]


def outcome(**spec: Any) -> tuple[str, str]:
    given = {"catalogs": [{"name": "c", "inline": BLOBS}], "wants": [{"package": "etcd"}], **spec}
    job = Job(msgspec.Raw(json.dumps(given).encode()), [CatalogInput("c", inline=True)])
    verdict = work_on(job, CatalogCache()).conditions["Resolved"]
    return verdict.status, verdict.reason


def test_what_is_null_was_never_said() -> None:
    assert outcome(installed=None, facts=None, optional=None, timeLimitSeconds=None) == outcome()
    assert outcome()[0] == "True"


@pytest.mark.parametrize("odd", [{"installed": {}}, {"timeLimitSeconds": "soon"}, {"wants": [5]}])
def test_a_spec_of_another_shape_is_told_and_ends_nothing(odd: dict[str, Any]) -> None:
    assert outcome(**odd) == ("False", "InvalidSpec")
