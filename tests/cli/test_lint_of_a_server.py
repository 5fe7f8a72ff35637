"""`muster lint` of a server: judged by what the user can read there, and by the same rules as files are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from tests.cli.test_select_of_a_server import called
from tests.hub.rest.asking import Asker, asked_hub, wanting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    with asked_hub(tmp_path_factory.mktemp("state")) as asker:
        yield asker


def test_a_file_is_judged_by_the_clusters_of_the_server(asker: Asker, tmp_path: Path) -> None:
    file = tmp_path / "placement.yaml"
    file.write_text(yaml.safe_dump(wanting("Amazon", "new", label="clouds")))

    code, said, err = called(asker, "lint", "-f", str(file))

    assert (code, err) == (1, "")
    assert "[no-such-label]" in said
    assert "did you mean" in said or "cloud" in said
    assert said.endswith("in 1 object, judged over 5 clusters\n")


def test_without_files_the_servers_own_objects_are_judged(asker: Asker) -> None:
    code, said, _ = called(asker, "lint", "--fail-on", "error")

    assert code == 0
    assert said.endswith("in 4 objects, judged over 5 clusters\n")


def test_what_may_not_be_listed_is_said_and_the_rest_is_judged(asker: Asker, tmp_path: Path) -> None:
    file = tmp_path / "placement.yaml"
    file.write_text(yaml.safe_dump(wanting("Amazon", "new")))

    code, said, err = called(asker, "lint", "--fail-on", "error", "-f", str(file), user="dora")

    assert code == 0
    assert "judged over 2 clusters" in said
    assert "muster: managedclustersets: none of them is known" in err
