"""kubectl: the one of this machine, and the oldest and the newest that can be had, built from their Go modules."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.clients import made
from tests.clients.matrix import CannotBeHadError, Client
from tests.differential.building import NoGoError, build

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
OLDEST, NEWEST = "kubectl 1.23 (oldest)", "kubectl 1.37 (newest)"


def of_this_machine() -> Path:
    found = os.environ.get("KUBECTL") or shutil.which("kubectl")
    if found is None:
        raise CannotBeHadError("no kubectl on PATH")
    return Path(found)


def built(folder: str) -> Path:
    try:
        return build(HERE / folder)
    except (NoGoError, RuntimeError, OSError, subprocess.CalledProcessError) as error:
        raise CannotBeHadError(str(error)) from None


@dataclass
class Kubectl:
    """One kubectl, with a home of its own."""

    name: str
    program: Path
    kubeconfig: Path
    home: Path

    def client(self) -> Client:
        verbs: dict[str, Callable[[], None]] = {
            "version": self.version,
            "discover": self.discover,
            "create": self.create,
            "get": self.get,
            "list": self.list,
            "update": self.update,
            "patch": self.patch,
            "apply": self.apply,
            "watch": self.watch,
            "delete": self.delete,
            "custom": self.custom,
            "events": self.events,
            "certificate": self.certificate,
        }
        return Client(self.name, verbs)

    @property
    def _own(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    def _environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "KUBECONFIG": str(self.kubeconfig)}

    def _say(self, *words: str, stdin: object = None) -> str:
        text = None if stdin is None else json.dumps(stdin)
        done = subprocess.run(
            [str(self.program), *words],
            input=text,
            capture_output=True,
            text=True,
            timeout=120,
            env=self._environment(),
            check=False,
        )
        if done.returncode:
            raise AssertionError(f"kubectl {' '.join(words)}: {done.stderr.strip()[-300:]}")
        return done.stdout + done.stderr

    def version(self) -> None:
        said = self._say("version")
        assert "v1.36" in said, said
        if self.name == NEWEST:
            assert "WARNING" not in said, said

    def discover(self) -> None:
        assert "placements" in self._say("api-resources")
        assert "cluster-info dump" in self._say("cluster-info")
        assert "KIND" in self._say("explain", "placement.spec")

    def create(self) -> None:
        self._say("create", "-f", "-", stdin=made.config_map(self._own, a="1"))

    def get(self) -> None:
        assert json.loads(self._say("get", "configmap", self._own, "-o", "json"))["data"] == {"a": "1"}
        assert self._own in self._say("describe", "configmap", self._own)

    def list(self) -> None:
        assert self._own in self._say("get", "configmaps", "-l", f"client={self._own}")
        self._say("get", "all")

    def update(self) -> None:
        self._say("replace", "-f", "-", stdin=made.config_map(self._own, a="2"))

    def patch(self) -> None:
        for kind, patch in (
            ("merge", '{"data":{"b":"1"}}'),
            ("strategic", '{"data":{"c":"1"}}'),
            ("json", '[{"op":"add","path":"/data/d","value":"1"}]'),
        ):
            self._say("patch", "configmap", self._own, "--type", kind, "-p", patch)
        found = json.loads(self._say("get", "configmap", self._own, "-o", "json"))["data"]
        assert found == {"a": "2", "b": "1", "c": "1", "d": "1"}, found

    def apply(self) -> None:
        name = f"{self._own}-applied"
        self._say("apply", "-f", "-", stdin=made.config_map(name, a="1"))
        self._say("apply", "-f", "-", stdin=made.config_map(name, a="2"))
        self._say("apply", "--server-side", "--field-manager=matrix", "--force-conflicts", "-f", "-",
                  stdin=made.config_map(name, b="1"))  # fmt: skip
        self._say("diff", "-f", "-", stdin=json.loads(self._say("get", "configmap", name, "-o", "json")))

    def watch(self) -> None:
        command = [str(self.program), "get", "configmap", self._own, "-w", "-o", "jsonpath={.data.a}{'\\n'}"]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self._environment())
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == "2\n"
            self._say("patch", "configmap", self._own, "--type", "merge", "-p", '{"data":{"a":"3"}}')
            assert running.stdout.readline() == "3\n"
        finally:
            running.terminate()
            running.wait(30)

    def delete(self) -> None:
        self._say("delete", "configmap", self._own, "--wait=true")
        assert "No resources found" in self._say("get", "configmaps", "-l", f"client={self._own}")

    def custom(self) -> None:
        self._say("apply", "-f", "-", stdin=made.cluster(self._own))
        self._say("label", "managedcluster", self._own, "tier=gold")
        assert "tier=gold" in self._say("get", "managedclusters", self._own, "--show-labels")
        self._say("delete", "managedcluster", self._own)

    def events(self) -> None:
        self._say("create", "-f", "-", stdin=made.event(self._own))
        for kind in ("events", "events.events.k8s.io"):
            assert f"seen by {self._own}" in self._say("get", kind)

    def certificate(self) -> None:
        self._say("create", "-f", "-", stdin=made.signing_request(self._own))
        self._say("certificate", "approve", self._own)
        until = time.monotonic() + 30
        while "Issued" not in self._say("get", "csr", self._own):
            assert time.monotonic() < until, "no certificate was issued"
            time.sleep(0.2)
