"""From a kubeconfig to a connection."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from muster.client import Connection, KubeconfigError, load_connection

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = """
current-context: hub
contexts:
- {name: hub, context: {cluster: hub, user: admin, namespace: apps}}
- {name: broken, context: {cluster: nowhere, user: admin}}
- {name: plugin, context: {cluster: hub, user: plugin}}
clusters:
- {name: hub, cluster: {server: "http://127.0.0.1:8080/"}}
users:
- {name: admin, user: {tokenFile: token}}
- name: plugin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      interactiveMode: Never
      command: sh
      args: [plugin.sh]
"""
PLUGIN = """
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "from-plugin"}}'
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "token").write_text("s3cret\n")
    (tmp_path / "plugin.sh").write_text(PLUGIN)
    path = tmp_path / "config"
    path.write_text(CONFIG.replace("plugin.sh", str(tmp_path / "plugin.sh")))
    monkeypatch.setenv("KUBECONFIG", str(path))
    return path


@pytest.mark.usefixtures("config")
def test_the_current_context_is_used_and_files_are_found_beside_the_kubeconfig() -> None:
    assert asyncio.run(load_connection()) == Connection(
        "http://127.0.0.1:8080", "apps", {"Authorization": "Bearer s3cret"}
    )


@pytest.mark.usefixtures("config")
def test_what_is_missing_is_named_with_what_is_there() -> None:
    with pytest.raises(KubeconfigError, match=r"no context 'nope' \(it has: hub, broken, plugin\)"):
        asyncio.run(load_connection("nope"))
    with pytest.raises(KubeconfigError, match="no cluster 'nowhere'"):
        asyncio.run(load_connection("broken"))


def test_a_user_who_acts_as_another_says_so_in_every_request(config: Path) -> None:
    config.write_text(config.read_text() + '    as: dev1\n    as-groups: [a, b]\n    as-user-extra: {x/y: ["1"]}\n')
    assert asyncio.run(load_connection("plugin")).impersonation == (
        ("Impersonate-User", "dev1"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-x%2Fy", "1"),
    )


def test_groups_of_nobody_are_refused(config: Path) -> None:
    config.write_text(config.read_text() + "    as-groups: [a]\n")
    with pytest.raises(KubeconfigError, match="but no `as`"):
        asyncio.run(load_connection("plugin"))


def test_exec_plugins_are_run(config: Path) -> None:
    connection = asyncio.run(load_connection("plugin", str(config)))
    assert connection.headers == {"Authorization": "Bearer from-plugin"}


def test_without_a_kubeconfig_the_message_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with pytest.raises(KubeconfigError, match="muster hub run"):
        asyncio.run(load_connection())


def test_a_field_of_another_type_is_refused_with_its_path_and_what_is_null_is_not_there(config: Path) -> None:
    """A token that YAML takes for a number has lost its zeros already; kubectl refuses it as well."""
    config.write_text(config.read_text().replace("tokenFile: token", "token: 00123"))
    with pytest.raises(KubeconfigError, match=r"config: users\[\d\]\.user\.token: expected a string, not a number"):
        asyncio.run(load_connection())
    config.write_text("contexts: null\nclusters:\nusers: []\ncurrent-context: hub\npreferences: {}\n")
    with pytest.raises(KubeconfigError, match=r"no context 'hub' \(it has: none\)"):
        asyncio.run(load_connection())


def test_of_several_files_the_first_that_names_a_thing_wins(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = config.with_name("first")
    first.write_text("clusters: [{name: hub, cluster: {server: 'http://first'}}]\n")
    monkeypatch.setenv("KUBECONFIG", f"{first}:{config.with_name('absent')}:{config}")
    found = asyncio.run(load_connection())
    assert (found.server, found.headers) == ("http://first", {"Authorization": "Bearer s3cret"})


def test_a_broken_kubeconfig_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("a: [")
    with pytest.raises(KubeconfigError, match="config: line 2: did not find"):
        asyncio.run(load_connection(path=str(path)))


def test_a_kubeconfig_that_nests_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("clusters: " + "[" * 40_000)
    with pytest.raises(KubeconfigError, match="config: values nest deeper than 100 levels"):
        asyncio.run(load_connection(path=str(path)))
