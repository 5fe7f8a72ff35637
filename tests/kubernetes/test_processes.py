"""Which server and who we are, how much memory, which TLS, and what health says. Without a server."""

from __future__ import annotations

import asyncio
import json
import ssl
from typing import TYPE_CHECKING

import aiohttp
import pytest
import typer

from muster.cli.kubernetes import processes
from muster.cli.kubernetes.placement import tls_settings
from muster.client import kubeconfig as kubeconfigs
from muster.kubernetes.serving.health import Health, listening
from muster.kubernetes.serving.permissions import serving_rules
from muster.kubernetes.settings import HomeSettings

if TYPE_CHECKING:
    from pathlib import Path


def a_kubeconfig(path: Path, server: str) -> str:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
    }
    path.write_text(json.dumps(config))
    return str(path)


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Pod with an account, and a home directory with a kubeconfig in it."""
    account = tmp_path / "serviceaccount"
    account.mkdir()
    (account / "token").write_text("pod-token\n")
    (account / "namespace").write_text("muster-system")
    (account / "ca.crt").write_text("")
    monkeypatch.setattr(kubeconfigs, "_IN_CLUSTER", account)
    monkeypatch.setattr(ssl, "create_default_context", lambda **_: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    home = tmp_path / "home"
    (home / ".kube").mkdir(parents=True)
    a_kubeconfig(home / ".kube" / "config", "http://from-home:1")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    return tmp_path


def server_of(kubeconfig: str | None = None) -> str:
    return asyncio.run(processes.connection_of(None, kubeconfig)).server


def test_the_pods_account_comes_before_the_home_directory_and_after_what_is_named(
    pod: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert server_of() == "https://10.0.0.1:443"
    monkeypatch.setenv("KUBECONFIG", a_kubeconfig(pod / "named", "http://from-environment:1"))
    assert server_of() == "http://from-environment:1"
    assert server_of(a_kubeconfig(pod / "typed", "http://typed:1")) == "http://typed:1"


def test_outside_of_a_pod_it_is_the_home_directory(pod: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kubeconfigs, "_IN_CLUSTER", pod / "nothing")
    assert server_of() == "http://from-home:1"


def test_the_controllers_are_ended_before_the_pod_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(processes, "_CGROUP", limit)
    limit.write_text(f"{2**30}\n")
    assert processes.pod_memory_limit() == 3 * 2**28
    limit.write_text("max\n")
    assert processes.pod_memory_limit() is None


def test_gos_names_of_versions_and_suites_are_understood() -> None:
    suites = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_AES_128_GCM_SHA256,TLS_RSA_WITH_RC4_128_SHA"
    version, ciphers = tls_settings("VersionTLS13", suites)
    assert (version, ciphers) == (ssl.TLSVersion.TLSv1_3, "ECDHE-RSA-AES128-GCM-SHA256")
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).set_ciphers(ciphers)
    assert tls_settings("", "") == (ssl.TLSVersion.TLSv1_2, "")
    with pytest.raises(typer.BadParameter, match="VersionSSL3"):
        tls_settings("VersionSSL3", "")


async def _asked(health: Health, *paths: str) -> list[tuple[int, str]]:
    async with listening(health.routes(), "127.0.0.1", 0) as port, aiohttp.ClientSession() as web:
        found = []
        for path in paths:
            async with web.get(f"http://127.0.0.1:{port}{path}") as reply:
                found.append((reply.status, await reply.text()))
        return found


async def _metrics() -> bytes:
    return b"muster_x 1\n"


def test_controllers_in_trouble_take_no_pod_out_of_the_service() -> None:
    health = Health({"certificates": lambda: None}, {"controllers": lambda: "they died 3 times"}, _metrics)
    ready, verbose, single, live = asyncio.run(
        _asked(health, "/readyz", "/readyz?verbose", "/healthz/controllers", "/livez")
    )
    assert ready == (200, "ok")
    assert "[!]controllers, which does not count here: they died 3 times" in verbose[1]
    assert single == (503, "[-]controllers failed: they died 3 times\n")
    assert live == (200, "ok")


def test_without_a_certificate_or_at_the_end_nobody_should_call() -> None:
    health = Health({"certificates": lambda: "there is no certificate yet"}, {}, _metrics)
    (ready,) = asyncio.run(_asked(health, "/readyz"))
    assert ready[0] == 503
    assert "there is no certificate yet" in ready[1]
    ending = Health({}, {}, _metrics)
    ending.is_stopping = True
    ready, metrics = asyncio.run(_asked(ending, "/readyz", "/metrics"))
    assert ready[0] == 503
    assert metrics == (200, "muster_x 1\n")


def test_serving_needs_no_right_to_write_beyond_reviews() -> None:
    assert list(serving_rules(HomeSettings(webhooks=False))) == []
    rules = list(serving_rules(HomeSettings(questions=True)))
    writing = [each for each in rules if set(each["verbs"]) - {"get", "list", "watch"}]
    assert [each["resources"] for each in writing] == [["subjectaccessreviews"]]
    assert not any("*" in each["resources"] + each["apiGroups"] + each["verbs"] for each in rules)
