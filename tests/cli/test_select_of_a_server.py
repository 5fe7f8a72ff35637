"""`muster select` of a server: the server is asked, and an observer where it does not answer; both say the same."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
import yaml

from muster.cli.main import run
from muster.client.asking import ServerAsker
from muster.errors import ApiError
from tests.hub.rest.asking import Asker, asked_hub, token_of, wanting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LABELS = "managedCluster.metadata.labels"


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    with asked_hub(tmp_path_factory.mktemp("state")) as asker:
        yield asker


@pytest.fixture(params=["server", "observer"])
def home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Who answers: with the second, the server does as if it had never heard of the kinds."""
    if request.param == "observer":

        async def unknown(*_: object) -> None:
            raise ApiError(404, "", "404 page not found")

        monkeypatch.setattr(ServerAsker, "ask", unknown)
    return str(request.param)


def called(asker: Asker, *args: str, user: str = "") -> tuple[int, str, str]:
    path = asker.hub.kubeconfig(asker.state / "select.kubeconfig")
    if user:
        config = yaml.safe_load(path.read_text())
        config["users"][0]["user"]["token"] = token_of(user)
        path.write_text(yaml.safe_dump(config))
    out, err = io.StringIO(), io.StringIO()
    code = run([*args, "--kubeconfig", str(path)], io.StringIO(), out, err)
    return code, out.getvalue(), err.getvalue()


@pytest.mark.usefixtures("home")
def test_names_come_from_whoever_answers(asker: Asker) -> None:
    assert called(asker, "select", f"{LABELS}.cloud == 'Azure'") == (0, "secret-2\nvisible-2\n", "")
    assert called(asker, "select", "-l", "cloud=Amazon", f"{LABELS}.cloud.size() > 3")[1].split() == [
        "secret-1",
        "secret-3",
        "visible-1",
    ]
    assert called(asker, "select", "-l", "cloud=Nowhere") == (1, "", "")


@pytest.mark.usefixtures("home")
def test_a_placement_in_a_file_is_scheduled_there(asker: Asker, tmp_path: Path) -> None:
    file = tmp_path / "placement.yaml"
    file.write_text(yaml.safe_dump(wanting("Amazon", "new")))

    assert called(asker, "select", "-f", str(file))[:2] == (0, "secret-1\nvisible-1\n")
    code, said, _ = called(asker, "select", "-f", str(file), "--why", "secret-3")
    assert (code, said.startswith("secret-3: no: "), "gpu" in said) == (1, True, True)


@pytest.mark.usefixtures("home")
def test_a_reason_and_whole_objects_are_to_be_had(asker: Asker) -> None:
    code, said, _ = called(asker, "select", f"{LABELS}.cloud == 'Azure'", "--why", "visible-1")
    assert (code, said.startswith("visible-1: no: ")) == (1, True)
    assert called(asker, "select", f"{LABELS}.cloud == 'Azure'", "--why", "visible-2")[0] == 0
    assert called(asker, "select", f"{LABELS}.cloud == 'Azure'", "--why", "nobody")[0] == 2

    found = json.loads(called(asker, "select", "-l", "cloud=Azure", "-o", "json")[1])
    assert [(each["kind"], each["metadata"]["name"]) for each in found["items"]] == [
        ("ManagedCluster", "secret-2"),
        ("ManagedCluster", "visible-2"),
    ]


@pytest.mark.usefixtures("home")
def test_what_cannot_be_evaluated_is_bad_input_or_counted(asker: Asker) -> None:
    code, _, err = called(asker, "select", f"{LABELS}.cloud ==")
    assert (code, "Syntax error" in err) == (2, True)
    code, _, err = called(asker, "select", f"{LABELS}.nothing == 'x'")
    assert (code, "5 objects could not be evaluated" in err) == (1, True)
    assert called(asker, "select", "'never a condition'")[0] == 2


def test_an_observer_says_what_it_could_not_read(asker: Asker) -> None:
    code, said, err = called(asker, "select", "-l", "cloud=Amazon", user="dora")

    assert (code, said) == (0, "visible-1\n")
    assert "managedclusters: only 2 that roles name are known, and how many others there are is not: " in err
