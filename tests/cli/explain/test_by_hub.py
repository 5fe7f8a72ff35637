"""`muster explain placement` as a user who may not list clusters: the hub explains what it may."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
import yaml

from muster.cli.main import run
from tests.hub.rest.asking import Asker, asked_hub, token_of, wanting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    with asked_hub(tmp_path_factory.mktemp("state")) as asker:
        yield asker


def explain(asker: Asker, user: str, *args: str) -> tuple[int, str, str]:
    kubeconfig = asker.state / f"{user}.kubeconfig"
    config = yaml.safe_load(asker.hub.kubeconfig(kubeconfig).read_text())
    config["users"][0]["user"]["token"] = token_of(user)
    config["contexts"][0]["context"]["namespace"] = "apps"
    kubeconfig.write_text(yaml.safe_dump(config))
    out, err = io.StringIO(), io.StringIO()
    code = run(["explain", "placement", *args, "--kubeconfig", str(kubeconfig)], io.StringIO(), out, err)
    return code, out.getvalue(), err.getvalue()


def test_the_whole_placement_is_explained_with_hidden_clusters_counted(asker: Asker) -> None:
    code, said, _ = explain(asker, "dora", "p1")
    assert code == 0
    assert said.startswith("placement apps/p1: 2 of 5 clusters\n")
    assert "visible-1" in said
    assert "secret" not in said


def test_one_cluster_is_explained_and_the_exit_code_says_whether_it_is_selected(asker: Asker) -> None:
    assert explain(asker, "dora", "p1", "--cluster", "visible-1")[0] == 0
    code, said, _ = explain(asker, "dora", "p1", "--cluster", "visible-2")
    assert (code, said.splitlines()[0].partition(":")[0]) == (1, "visible-2 in apps/p1")


def test_a_placement_in_a_file_is_tried_out(asker: Asker, tmp_path: Path) -> None:
    file = tmp_path / "placement.yaml"
    file.write_text(yaml.safe_dump(wanting("Azure", "new")))
    code, said, _ = explain(asker, "dora", "-f", str(file))
    assert (code, said.splitlines()[0]) == (0, "placement apps/new: 2 of 5 clusters")


@pytest.mark.parametrize(
    ("user", "args", "code", "message"),
    [
        ("nobody", ("p1",), 4, 'User "nobody" cannot list resource "managedclusters"'),
        ("dora", ("p1", "--cluster", "secret-1"), 4, 'User "dora" cannot get resource "managedclusters"'),
        ("dora", ("nowhere",), 2, "there is no Placement 'nowhere'"),
    ],
)
def test_a_refusal_is_the_one_that_helps(
    asker: Asker, user: str, args: tuple[str, ...], code: int, message: str
) -> None:
    exit_code, _, said = explain(asker, user, *args)
    assert (exit_code, message in said) == (code, True)
