"""kubectl and muster as several users: what they are told they may do, and what they are told when they may not."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from muster.cli import auth
from muster.cli.hub import credentials as token
from muster.hub.auth.certificates import serving_certificate
from tests.e2e.test_kubectl import KUBECTL, Kubectl
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import typer

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH (Debian: apt install kubernetes-client)"),
]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def hub(state: Path) -> Iterator[RunningHub]:
    with running_hub(state / "hub.db", tls=serving_certificate(state), state=state) as running:
        running.kubeconfig(state / "kubeconfig")
        yield running


@pytest.fixture(scope="module")
def admin(hub: RunningHub, state: Path) -> Kubectl:
    kubectl = Kubectl(state, state / "kubeconfig")
    kubectl("create", "namespace", "apps")
    kubectl("create", "clusterrole", "mcr", "--verb=get,list", "--resource=managedclusters")
    kubectl("create", "clusterrolebinding", "mcr", "--clusterrole=mcr", "--group=devs")
    kubectl("create", "rolebinding", "editors", "-n", "apps", "--clusterrole=edit", "--user=bob")
    return kubectl


def run(app: typer.Typer, *args: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Exit code, output and errors of one of our commands."""
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", err)
    try:
        app(args=list(args), prog_name="muster")
    except SystemExit as done:
        return int(done.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def alice(admin: Kubectl, state: Path) -> Kubectl:
    """A user with a token of her own and a kubeconfig made for her."""
    patch = pytest.MonkeyPatch()
    file = state / "alice.kubeconfig"
    args = ("create", "--user", "alice", "--group", "devs", "--expires", "1h", "--kubeconfig", str(file))
    code, said, _ = run(token.tokens, *args, "--data", str(state), monkeypatch=patch)
    patch.undo()
    assert (code, said) == (0, f"export KUBECONFIG={file.resolve()}\n")
    return Kubectl(admin.home, file)


def test_a_user_knows_who_she_is(alice: Kubectl) -> None:
    info = alice.json("auth", "whoami")
    assert info["status"]["userInfo"]["username"] == "alice"  # type: ignore[index]  # JSON
    assert info["status"]["userInfo"]["groups"] == ["devs", "system:authenticated"]  # type: ignore[index]  # JSON


def test_a_user_is_told_what_she_may_do(alice: Kubectl) -> None:
    assert alice.run("auth", "can-i", "list", "managedclusters").stdout == "yes\n"
    denied = alice.run("auth", "can-i", "delete", "managedclusters")
    assert (denied.returncode, denied.stdout) == (1, "no\n")
    listed = alice("auth", "can-i", "--list")
    assert "managedclusters.cluster.open-cluster-management.io" in listed
    assert alice("get", "managedclusters").strip() == ""


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (
            ["get", "secrets", "-n", "apps"],
            'secrets is forbidden: User "alice" cannot list resource "secrets" in API group "" in the namespace "apps"',
        ),
        (
            ["delete", "managedcluster", "c1"],
            'managedclusters.cluster.open-cluster-management.io "c1" is forbidden: User "alice" cannot delete resource '
            '"managedclusters" in API group "cluster.open-cluster-management.io" at the cluster scope',
        ),
        (["get", "--raw", "/metrics"], 'forbidden: User "alice" cannot get path "/metrics"'),
        (
            ["get", "namespace", "apps"],
            'namespaces "apps" is forbidden: User "alice" cannot get resource "namespaces" in API group "" '
            'in the namespace "apps"',
        ),
        (
            ["create", "clusterrole", "esc", "--verb=*", "--resource=*"],
            'clusterroles.rbac.authorization.k8s.io is forbidden: User "alice" cannot create resource "clusterroles" '
            'in API group "rbac.authorization.k8s.io" at the cluster scope',
        ),
    ],
)
def test_a_refusal_is_the_real_server_s_word_for_word(alice: Kubectl, args: list[str], text: str) -> None:
    assert alice(*args, fails=True) == f"Error from server (Forbidden): {text}\n"


def test_acting_as_another_needs_permission(admin: Kubectl, alice: Kubectl) -> None:
    assert admin.run("auth", "can-i", "create", "placements", "-n", "apps", "--as", "bob").stdout == "yes\n"
    assert admin.run("auth", "can-i", "create", "placements", "-n", "default", "--as", "bob").stdout == "no\n"
    assert 'User "bob" cannot list' in admin("get", "managedclusters", "--as", "bob", fails=True)
    error = alice("get", "managedclusters", "--as", "bob", fails=True)
    assert 'User "alice" cannot impersonate-on:user-info:list resource "managedclusters"' in error


def test_an_editor_edits_in_its_namespace_and_nowhere_else(admin: Kubectl) -> None:
    as_bob = ["--as", "bob"]
    admin("create", "configmap", "settings", "-n", "apps", "--from-literal=a=b", *as_bob)
    assert "forbidden" in admin("create", "configmap", "settings", "-n", "default", *as_bob, fails=True)
    error = admin("create", "role", "more", "-n", "apps", "--verb=get", "--resource=secrets", *as_bob, fails=True)
    assert "cannot create resource" in error


def test_a_program_has_a_token_of_its_service_account(admin: Kubectl) -> None:
    admin("create", "serviceaccount", "robot", "-n", "apps")
    made = admin("create", "token", "robot", "-n", "apps", "--duration", "10m").strip()
    admin("create", "rolebinding", "robot", "-n", "apps", "--clusterrole=view", "--serviceaccount=apps:robot")
    program = Kubectl(admin.home, admin.kubeconfig)
    asked = ["--token", made, "-n", "apps"]
    assert "system:serviceaccount:apps:robot" in program("auth", "whoami", *asked)
    assert program.run("auth", "can-i", "list", "placements", *asked).stdout == "yes\n"
    error = program("get", "secrets", *asked, fails=True)
    assert 'User "system:serviceaccount:apps:robot" cannot list resource "secrets"' in error


def test_a_client_certificate_is_as_good_as_a_token(
    admin: Kubectl, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = state / "dora.kubeconfig"
    args = ("create", "--user", "dora", "--group", "devs", "--kubeconfig", str(file), "--data", str(state))
    assert run(token.certificates, *args, monkeypatch=monkeypatch)[0] == 0
    dora = Kubectl(admin.home, file)
    assert "dora" in dora("auth", "whoami")
    assert dora.run("auth", "can-i", "list", "managedclusters").stdout == "yes\n"


def test_a_revoked_token_is_refused_at_once(admin: Kubectl, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = ("--data", str(state))
    code, made, said = run(token.tokens, "create", "--user", "eve", *data, monkeypatch=monkeypatch)
    assert (code, said) == (0, f"token {made.split('-')[1]} of eve\n")
    eve = Kubectl(admin.home, admin.kubeconfig)
    assert "eve" in eve("auth", "whoami", "--token", made.strip())
    _, listed, _ = run(token.tokens, "list", "-o", "json", *data, monkeypatch=monkeypatch)
    entry = next(each for each in json.loads(listed) if each["user"] == "eve")
    assert made.strip() not in listed
    assert run(token.tokens, "revoke", entry["id"], *data, monkeypatch=monkeypatch)[0] == 0
    assert "Unauthorized" in eve("auth", "whoami", "--token", made.strip(), fails=True)


def test_muster_says_who_may_and_by_what(admin: Kubectl, alice: Kubectl, monkeypatch: pytest.MonkeyPatch) -> None:
    config = ("--kubeconfig", str(alice.kubeconfig))
    code, said, _ = run(auth.app, "can-i", "list", "mcl", *config, monkeypatch=monkeypatch)
    reason = 'RBAC: allowed by ClusterRoleBinding "mcr" of ClusterRole "mcr" to Group "devs"'
    assert (code, said) == (0, f"yes - {reason}\n")
    code, said, _ = run(auth.app, "can-i", "delete", "mcl", "c1", *config, monkeypatch=monkeypatch)
    assert (code, said) == (1, "no\n")
    config = ("--kubeconfig", str(admin.kubeconfig))
    code, said, _ = run(auth.app, "who-can", "list", "mcl", "-o", "json", *config, monkeypatch=monkeypatch)
    rows = [(row["kind"], row["subject"], row["role"]) for row in json.loads(said) if "muster" not in row["subject"]]
    assert (code, rows) == (
        0,
        [("Group", "system:masters", "ClusterRole/cluster-admin"), ("Group", "devs", "ClusterRole/mcr")],
    )
    code, said, _ = run(auth.app, "who-can", "get", "/metrics", *config, monkeypatch=monkeypatch)
    assert (code, "system:monitoring" in said) == (0, True)
    asked = ("can-i", "create", "placements", "-n", "apps", "--as", "bob")
    assert run(auth.app, *asked, *config, monkeypatch=monkeypatch)[0] == 0
    assert run(auth.app, "whoami", *config, monkeypatch=monkeypatch)[1].startswith("muster:admin\n")


def test_admission_speaks_through_warnings_and_refusals(admin: Kubectl) -> None:
    placement = {
        "apiVersion": "cluster.open-cluster-management.io/v1beta1",
        "kind": "Placement",
        "metadata": {"name": "typo", "namespace": "apps"},
        "spec": {
            "predicates": [{"requiredClusterSelector": {"celSelector": {"celExpressions": ["managedCluster.nam("]}}}]
        },
    }
    result = admin.run("apply", "-f", "-", stdin=json.dumps(placement))
    assert result.returncode == 0
    assert "Warning: placement cannot be scheduled: failed to compile CEL expression" in result.stderr
    binding = {
        "apiVersion": "cluster.open-cluster-management.io/v1beta2",
        "kind": "ManagedClusterSetBinding",
        "metadata": {"name": "a", "namespace": "apps"},
        "spec": {"clusterSet": "b"},
    }
    error = admin("create", "-f", "-", stdin=json.dumps(binding), fails=True)
    assert "must have the same name as the target ManagedClusterSet" in error
