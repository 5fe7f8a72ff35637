"""kube-apiserver and etcd: from the folder that MUSTER_KUBERNETES_BIN names, or built once from their Go modules.

`server*/go.mod` and `go.sum` say exactly what is built; there is no Go source of ours. What is built is kept outside
the clone under a checksum of these files and of the Go version.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.differential.building import NoGoError, build, built_path

HERE: Final = Path(__file__).parent
NEWEST, OLDEST = "server", "server-1.33"
CHOSEN: Final = "MUSTER_KUBERNETES_SERVER"  # one of these; the newest if nothing is said
ONLY_SERVER: Final = "MUSTER_ONLY_SERVER"  # set: tests that need no server are left to `make test`
_PACKAGES: Final = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
}


class NotBuiltError(Exception):
    """Nobody has asked for a real server, or its programs are not there: what needs them says so."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """The programs of one version."""

    apiserver: Path
    etcd: Path


def found() -> Binaries:
    """The programs that were chosen, if they are there already. Raises NotBuiltError."""
    folder, chosen = os.environ.get(CHOSEN), os.environ.get("MUSTER_KUBERNETES_BIN")
    if not folder and not chosen:
        raise NotBuiltError(f"neither {CHOSEN} nor MUSTER_KUBERNETES_BIN is set")  # make test is quicker without
    if chosen:
        programs = Binaries(Path(chosen) / "kube-apiserver", Path(chosen) / "etcd")
    else:
        try:
            paths = {
                name: built_path(HERE / (folder or NEWEST), package=package) for name, package in _PACKAGES.items()
            }
        except NoGoError as error:
            raise NotBuiltError(str(error)) from None
        programs = Binaries(paths["kube-apiserver"], paths["etcd"])
    missing = [str(path) for path in (programs.apiserver, programs.etcd) if not path.exists()]
    if missing:
        raise NotBuiltError(f"{', '.join(missing)}: no such program")
    return programs


def built(folder: str = NEWEST) -> Binaries:
    """The programs, built now if need be. Raises NoGoError, or RuntimeError with what the compiler says."""
    version = version_of(folder)
    ldflags = " ".join(
        ["-s", "-w"] + [f"-X k8s.io/component-base/version.{name}={value}" for name, value in _stamp(version).items()]
    )
    paths = {name: build(HERE / folder, package=package, ldflags=ldflags) for name, package in _PACKAGES.items()}
    return Binaries(paths["kube-apiserver"], paths["etcd"])


def version_of(folder: str = NEWEST) -> str:
    """The version of Kubernetes that a folder builds, such as v1.36.3."""
    text = (HERE / folder / "go.mod").read_text()
    match = re.search(r"^\tk8s\.io/kubernetes (v\S+)", text, re.MULTILINE)
    if match is None:
        raise ValueError(f"{folder}/go.mod does not name a version of k8s.io/kubernetes")
    return match[1]


def _stamp(version: str) -> dict[str, str]:
    major, minor, _ = version.removeprefix("v").split(".")
    return {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
