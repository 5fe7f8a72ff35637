"""Directories written by earlier versions open: every one that is kept in tests/fixtures/data-directories."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from muster.hub.storage import Store, examine
from tests.hub.directories import running_hub
from tests.hub.storage.stories import story

FIXTURES = Path(__file__).parents[1] / "fixtures" / "data-directories"
# Events expire, leases are the controllers' own, definitions are made from the program and not stored.
PASSING = {"events", "leases.coordination.k8s.io", "customresourcedefinitions.apiextensions.k8s.io"}


def unpacked(archive: Path, directory: Path) -> Path:
    with tarfile.open(archive) as packed:
        if hasattr(tarfile, "data_filter"):
            packed.extractall(directory, filter="data")
        else:  # Python before 3.11.4; the archive is a fixture of ours
            packed.extractall(directory)
    for file in (directory / "data").iterdir():
        file.chmod(0o600)
    return directory / "data"


@pytest.mark.parametrize("archive", sorted(FIXTURES.glob("*.tar.xz")), ids=lambda path: path.name)
@story
async def test_a_directory_of_an_earlier_version_opens_with_all_it_holds(archive: Path, tmp_path: Path) -> None:
    facts: dict[str, Any] = json.loads(archive.with_name(archive.name.replace(".tar.xz", ".json")).read_text())
    directory = unpacked(archive, tmp_path)
    async with Store.open(directory / "muster.db") as store:
        found = store.statistics().objects
        assert store.revision >= facts["revision_at_least"]
        revision = store.revision
    expected = facts["objects"]
    stored = {name: count for name, count in expected.items() if name not in PASSING}
    assert {name: found.get(name) for name in stored} == stored
    async with running_hub(directory) as hub:
        for user, token in facts["tokens"].items():
            code, review = await hub.ask(
                "POST",
                "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"},
                token,
            )
            assert (code, review["status"]["userInfo"]["username"]) == (201, user)
        code, clusters = await hub.ask("GET", "/apis/cluster.open-cluster-management.io/v1/managedclusters")
        assert code == 200
        assert len(clusters["items"]) == expected["managedclusters.cluster.open-cluster-management.io"]
        body = {"metadata": {"name": "written-later"}, "data": {"a": "b"}}
        code, written = await hub.ask("POST", "/api/v1/namespaces/default/configmaps", body)
        assert code == 201
        assert int(written["metadata"]["resourceVersion"]) > revision
        assert (await hub.ask("GET", "/readyz"))[0] == 200
    assert examine(directory / "muster.db").objects > len(expected)


def test_there_is_a_directory_of_an_earlier_version() -> None:
    assert sorted(FIXTURES.glob("*.tar.xz"))
