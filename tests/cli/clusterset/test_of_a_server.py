"""`muster clusterset who-can-join` and `why` of a server: JoinReview is asked, or else access reviews are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from muster.client.asking import ServerAsker
from muster.errors import ApiError
from tests.builders import a_set
from tests.cli.test_select_of_a_server import called
from tests.hub.rest.asking import Asker, asked_hub, grant, on

if TYPE_CHECKING:
    from collections.abc import Iterator

SETS = "/apis/cluster.open-cluster-management.io/v1beta2/managedclustersets"
KEY = "cluster.open-cluster-management.io/clusterset"


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    with asked_hub(tmp_path_factory.mktemp("state")) as asker:
        prod = {**a_set("prod"), "spec": {"clusterSelector": {"selectorType": "ExclusiveClusterSetLabel"}}}
        assert asker.send("POST", SETS, prod)[0] == 201
        grant(asker, "jo", "joiner", on("managedclustersets/join", "create", names=("prod",)))
        yield asker


@pytest.fixture(params=["server", "observer"], autouse=True)
def home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "observer":

        async def unknown(*_: object) -> None:
            raise ApiError(404, "", "404 page not found")

        monkeypatch.setattr(ServerAsker, "ask", unknown)
    return str(request.param)


def test_who_can_join_is_a_table_of_bindings(asker: Asker) -> None:
    code, said, err = called(asker, "clusterset", "who-can-join", "prod")

    assert (code, err) == (0, "")
    assert said.splitlines()[0].split() == ["KIND", "SUBJECT", "BINDING", "ROLE", "CLUSTERS"]
    assert "User    jo               ClusterRoleBinding/joiner" in said


def test_why_not_names_what_is_missing_and_what_grants_the_rest(asker: Asker) -> None:
    code, said, _ = called(asker, "clusterset", "why", "jo", "visible-1", "prod")

    assert code == 1
    assert said.splitlines()[:2] == [
        "no: jo may not move visible-1 into prod",
        f"  label {KEY}: default → prod",
    ]
    assert '✗ update or patch managedclusters "visible-1"' in said
    assert '✓ create managedclustersets/join "prod"' in said
    assert 'create: by ClusterRoleBinding "joiner" of ClusterRole "joiner" to User "jo"' in said


def test_what_is_not_there_is_bad_input(asker: Asker) -> None:
    assert called(asker, "clusterset", "who-can-join", "nowhere")[::2] == (
        2,
        "muster: there is no cluster set 'nowhere'\n",
    )
    assert called(asker, "clusterset", "why", "jo", "nobody", "prod")[::2] == (
        2,
        "muster: there is no cluster 'nobody'\n",
    )
