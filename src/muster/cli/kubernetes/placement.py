"""`muster kubernetes placement controller`: our placement controller in the place of Open Cluster Management's.

It takes the flags of theirs, answers `/healthz` over HTTPS on 8443, leads by the same lease and writes no more than the
role of theirs allows. A symbolic link `/placement` to `muster` is all that an image needs for it.
"""

from __future__ import annotations

import logging
import os
import ssl
from pathlib import Path
from typing import Annotated, Final

import typer

from muster.cli.hub.processes import Supervised  # noqa: TC001 - typer reads annotations at run time
from muster.cli.inputs.options import Kubeconfig  # noqa: TC001
from muster.cli.kubernetes.processes import (
    SERVING,
    Controlling,
    log_to_stderr,
    run_controlling,
    run_serving,
    run_supervised,
)
from muster.cli.kubernetes.run import (
    Identity,
    LogLevel,
    Memory,
    Part,
    Patience,
    SetAside,
    State,
    Succeeds,
    VitalsFile,
)
from muster.cli.terminal.commands import App

_LOGGER = logging.getLogger(__name__)
LEASE_NAME: Final = "placement-lock"
_DETAILS: Final = 4
_USUAL_HOME: Final = "open-cluster-management-hub"
_OWN_NAMESPACE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_VERSIONS: Final = {
    "VersionTLS10": ssl.TLSVersion.TLSv1_2,  # older ones are not offered any more
    "VersionTLS11": ssl.TLSVersion.TLSv1_2,
    "VersionTLS12": ssl.TLSVersion.TLSv1_2,
    "VersionTLS13": ssl.TLSVersion.TLSv1_3,
}
# Go's names of suites, in OpenSSL's. Those of TLS 1.3 are not chosen one by one in either.
_CIPHERS: Final = {
    f"TLS_ECDHE_{key}_WITH_{cipher}": f"ECDHE-{key}-{name}"
    for key in ("RSA", "ECDSA")
    for cipher, name in (
        ("AES_128_GCM_SHA256", "AES128-GCM-SHA256"),
        ("AES_256_GCM_SHA384", "AES256-GCM-SHA384"),
        ("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305"),
        ("CHACHA20_POLY1305", "CHACHA20-POLY1305"),
    )
}

app = App(help="Our placement controller in the place of Open Cluster Management's.")


@app.callback()
def _placement() -> None:
    """Our placement controller in the place of Open Cluster Management's."""


def tls_settings(version: str, suites: str) -> tuple[ssl.TLSVersion, str]:
    """The oldest version and OpenSSL's names of ciphers. What is not known is left out, and said."""
    if version and version not in _VERSIONS:
        raise typer.BadParameter(f"--tls-min-version: {version} is none of {', '.join(_VERSIONS)}")
    named = [each.strip() for each in suites.split(",") if each.strip()]
    if unknown := [each for each in named if each not in _CIPHERS and not each.startswith(("TLS_AES", "TLS_CHACHA"))]:
        _LOGGER.warning("cipher suites that are not offered: %s", ", ".join(unknown))
    return _VERSIONS.get(version, ssl.TLSVersion.TLSv1_2), ":".join(
        dict.fromkeys(_CIPHERS[each] for each in named if each in _CIPHERS)
    )


@app.command("controller")
def controller(
    kubeconfig: Kubeconfig = None,
    namespace: Annotated[
        str,
        typer.Option(
            "--namespace",
            metavar="NAMESPACE",
            help="Where the lease is; else the Pod's own, else open-cluster-management-hub.",
            envvar="POD_NAMESPACE",
            show_default=False,
        ),
    ] = "",
    listen: Annotated[
        str, typer.Option("--listen", metavar="ADDRESS:PORT", help="Where /healthz is answered, HTTPS.")
    ] = "0.0.0.0:8443",
    tls_min_version: Annotated[
        str, typer.Option("--tls-min-version", metavar="VERSION", help="VersionTLS12 or VersionTLS13.")
    ] = "",
    tls_cipher_suites: Annotated[
        str, typer.Option("--tls-cipher-suites", metavar="NAMES", help="Suites of TLS 1.2, as Go names them.")
    ] = "",
    feature_gates: Annotated[
        list[str] | None,
        typer.Option("--feature-gates", metavar="NAME=VALUE", help="Taken and ignored, as are those that follow."),
    ] = None,
    config: Annotated[str, typer.Option("--config", metavar="FILE", help="Ignored.")] = "",
    verbosity: Annotated[str, typer.Option("-v", "--v", metavar="NUMBER", help="Verbosity; from 4 on, details.")] = "2",
    disable_leader_election: Annotated[
        bool, typer.Option("--disable-leader-election", help="Ignored: two that decide would contradict each other.")
    ] = False,
    log_level: Annotated[LogLevel | None, typer.Option("--log-level", help="How much to tell.")] = None,
    memory: Memory = None,
    patience: Patience = 20.0,
    supervised: Supervised = False,
    part: Part = "",
    state: State = None,
    vitals: VitalsFile = None,
    identity: Identity = "",
    succeeds: Succeeds = "",
    set_aside: SetAside = "",
) -> None:
    """Schedule placements as Open Cluster Management's controller would, within its role, under its lease.

    Examples:
      muster kubernetes placement controller --tls-min-version VersionTLS13
      muster kubernetes placement controller --kubeconfig my-hub --namespace open-cluster-management-hub
    """
    from muster.controllers.duties import INSTEAD

    number = verbosity.lstrip("=")  # Go's `-v=2`
    detailed = number.isdecimal() and int(number) >= _DETAILS
    level = (log_level or (LogLevel.DEBUG if detailed else LogLevel.INFO)).value
    log_to_stderr(level)
    home = namespace or _own_namespace()
    address, _, port = listen.rpartition(":")
    if not port.isdecimal():
        raise typer.BadParameter(f"--listen: {listen!r} has no port")
    if not part:
        for name, given in (("--feature-gates", feature_gates), ("--config", config)):
            if given:
                _LOGGER.warning("%s is ignored: it is not known here", name)
        if disable_leader_election:
            _LOGGER.warning("--disable-leader-election is ignored: two that decide would contradict each other")
        told = [f"--namespace={home}", f"--listen={listen}", f"--log-level={level}"]
        told += [f"--tls-min-version={tls_min_version}"] if tls_min_version else []
        told += [f"--tls-cipher-suites={tls_cipher_suites}"] if tls_cipher_suites else []
        told += [f"--kubeconfig={kubeconfig}"] if kubeconfig else []
        tls_settings(tls_min_version, tls_cipher_suites)
        command = ("kubernetes", "placement", "controller")
        run_supervised(command, told, memory, patience, os.environ.get("POD_NAME", ""))
    elif part == SERVING:
        from muster.kubernetes.serving.replica import ReplicaSettings
        from muster.kubernetes.settings import HomeSettings

        nothing = HomeSettings(namespace=home, webhooks=False, questions=False, mode="instead")
        settings = ReplicaSettings(
            nothing,
            state or Path.cwd(),
            address.strip("[]") or "0.0.0.0",  # noqa: S104 - the kubelet comes from elsewhere
            health_port=int(port),
            secure_health=True,
            vitals=vitals,
            tls_versions=tls_settings(tls_min_version, tls_cipher_suites),
        )
        run_serving(None, kubeconfig, settings, supervised)
    else:
        where = state or Path.cwd()
        told_controllers = Controlling(
            INSTEAD, home, LEASE_NAME, where, False, {}, identity, succeeds, vitals, set_aside
        )
        run_controlling(None, kubeconfig, told_controllers, supervised)


def _own_namespace() -> str:
    try:
        return _OWN_NAMESPACE.read_text().strip() or _USUAL_HOME
    except OSError:
        return _USUAL_HOME
