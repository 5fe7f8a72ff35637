"""`muster clusters` beside a hub with its controllers: from an invitation to a cluster, and out again."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
import yaml

from muster.cli.clusters.joining import Invitation
from muster.cli.main import run
from tests.controllers.registration.joining import CSRS, Asker, a_cluster, a_request, an_agent
from tests.controllers.running import CLUSTERS, Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.e2e


@pytest.fixture
def hub() -> Iterator[Driver]:
    with driven_hub() as found, controllers(found.hub):
        yield found


def muster(hub: Driver, path: Path, *args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    kubeconfig = str(hub.hub.kubeconfig(path / "kubeconfig"))
    code = run(["clusters", *args, "--kubeconfig", kubeconfig], io.StringIO(), out, err)
    return code, out.getvalue(), err.getvalue()


def joiner(hub: Driver, path: Path, cluster: str) -> Asker:
    """Whoever has got what `join-command` printed."""
    code, out, err = muster(hub, path, "join-command", cluster, "-o", "kubeconfig")
    assert code == 0, err
    assert "is this machine" in err
    config = yaml.safe_load(out)
    assert config["clusters"][0]["cluster"]["server"] == hub.hub.url
    return Asker(hub, {"Authorization": f"Bearer {config['users'][0]['user']['token']}"})


def test_from_an_invitation_to_a_cluster_and_out_again(hub: Driver, tmp_path: Path) -> None:
    assert muster(hub, tmp_path, "list")[:2] == (0, "there are no clusters\n")
    asker = joiner(hub, tmp_path, "edge-7")
    assert asker.send("POST", CLUSTERS, a_cluster("edge-7"))[0] == 201
    code, out, _ = muster(hub, tmp_path, "accept", "edge-7")
    assert (code, out.partition(";")[0]) == (1, "edge-7: no agent asks to be this cluster")
    assert asker.send("POST", CSRS, a_request("edge-7", "first"))[0] == 201
    (row,) = json.loads(muster(hub, tmp_path, "list", "--pending", "-o", "json")[1])
    user = row.pop("asking")
    assert row == {"name": "edge-7", "accepted": "false", "joined": "-", "available": "-"}
    assert user.startswith("a1 (system:bootstrap:")
    code, out, _ = muster(hub, tmp_path, "accept", "edge-7")
    assert (code, out.splitlines()[-1]) == (0, "edge-7: accepted, 1 approved")
    agent = an_agent(hub, "edge-7")
    eventually(lambda: agent.send("GET", f"{CLUSTERS}/edge-7")[0], 200)
    assert muster(hub, tmp_path, "accept", "edge-7")[1] == "edge-7: accepted\n"
    assert muster(hub, tmp_path, "list", "--pending")[1] == "nobody waits\n"
    assert muster(hub, tmp_path, "remove", "edge-7", "--yes")[:2] == (0, "edge-7: removed\n")
    assert muster(hub, tmp_path, "remove", "edge-7", "--yes")[:2] == (1, "edge-7: there is no such cluster\n")
    assert agent.send("GET", f"{CLUSTERS}/edge-7")[0] == 403


def test_several_who_ask_to_be_the_same_cluster_are_not_let_in_together(hub: Driver, tmp_path: Path) -> None:
    asker = joiner(hub, tmp_path, "edge-7")
    prefix = "system:open-cluster-management:edge-7"
    assert asker.send("POST", CLUSTERS, a_cluster("edge-7"))[0] == 201
    for name in ("a1", "a2"):
        assert asker.send("POST", CSRS, a_request("edge-7", name, f"{prefix}:{name}", prefix))[0] == 201
    code, _, err = muster(hub, tmp_path, "accept", "edge-7")
    assert code == 2
    assert "several agents ask to be cluster edge-7: a1 (by system:bootstrap:" in err
    assert muster(hub, tmp_path, "accept", "edge-7", "--agent", "a2")[0] == 0
    approved = [name for name in ("a1", "a2") if hub.condition(f"{CSRS}/{name}", "Approved")]
    assert approved == ["a2"]


def test_an_agent_of_another_cluster_is_not_taken_for_who_asks(hub: Driver, tmp_path: Path) -> None:
    """Somebody who is not joining asks in the cluster's name: people do not get to see it as a request to join."""
    hub.send("POST", CLUSTERS, a_cluster("edge-7"))
    hub.send("POST", CSRS, a_request("edge-7", "mine"))
    code, out, _ = muster(hub, tmp_path, "accept", "edge-7")
    assert (code, out.partition(";")[0]) == (1, "edge-7: no agent asks to be this cluster")


@pytest.mark.parametrize("name", ["kube-system", "Edge", "managed-clusters", "work"])
def test_names_that_no_cluster_can_have_are_refused_before_a_token_is_made(
    hub: Driver, tmp_path: Path, name: str
) -> None:
    code, out, err = muster(hub, tmp_path, "join-command", name)
    assert (code, out) == (2, "")
    assert name in err
    assert hub.get("/api/v1/namespaces/kube-system/secrets")["items"] == []


def test_what_is_printed_can_be_pasted() -> None:
    found = Invitation("edge-7", "https://hub:1", "abc123.0123456789abcdef", "CERTIFICATES\n", "2026-11-18T00:00:00Z")
    assert found.command == (
        "cat > hub-ca.crt <<'EOF'\nCERTIFICATES\nEOF\n"
        "clusteradm join \\\n  --hub-token abc123.0123456789abcdef \\\n  --hub-apiserver https://hub:1 \\\n"
        "  --ca-file hub-ca.crt \\\n  --cluster-name edge-7\n"
    )
    secret = found.secret(yaml.safe_dump(found.kubeconfig()))
    assert secret["metadata"] == {"name": "bootstrap-hub-kubeconfig", "namespace": "open-cluster-management-agent"}
