"""The same stories on a real kube-apiserver with Muster and the demo fleet: `make browser SERVER=kubernetes`.

The programs are those of `make kubernetes`. What comes after the module's name goes to pytest; without it, stories of
every screen are told.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from muster.demo import Fleet, fleet_objects
from muster.kubernetes.settings import HomeSettings
from tests.kubernetes.binaries import built
from tests.kubernetes.ports import free_ports
from tests.kubernetes.replicas import User, eventually, install, install_kinds, replica
from tests.kubernetes.server import running

HERE: Final = Path(__file__).parent
_SETTINGS: Final = HomeSettings(webhooks=False, policies=False, questions=True)
_STORIES: Final = ("test_stories.py", "test_guards.py", "test_plans.py", "test_hosts_and_operators.py")
_FACETS: Final = {"apiVersion": "fleet.muster.dev/v1alpha1", "kind": "FleetFacets", "spec": {}}
_DECISIONS: Final = "/apis/cluster.open-cluster-management.io/v1beta1/placementdecisions"
_PLACEMENTS: Final = 5  # of the demo


def main() -> int:
    told = sys.argv[1:] or [str(HERE / each) for each in _STORIES]
    with tempfile.TemporaryDirectory() as folder, running(built(), Path(folder)) as server:
        admin = User(server.kubeconfig)
        webhooks, questions = free_ports(2)
        install(admin, _SETTINGS, webhooks, questions)
        install_kinds(admin, _SETTINGS)
        with replica(server.kubeconfig, "--no-webhooks", "--questions", ports=(webhooks, questions)) as ours:
            eventually(lambda: ours.says("leading"), patience=120)
            _load(server.kubeconfig, Path(folder) / "demo.json")
            eventually(
                lambda: admin.send("POST", "/apis/fleet.muster.dev/v1alpha1/fleetfacets", _FACETS).code, 201, 120
            )
            eventually(lambda: len(admin.ok("GET", _DECISIONS)["items"]) >= _PLACEMENTS, patience=120)
            environment = {"MUSTER_BROWSER": "1", "MUSTER_BROWSER_KUBECONFIG": str(server.kubeconfig)}
            command = [sys.executable, "-m", "pytest", "-q", "--timeout", "300", *told]
            return subprocess.run(command, env=os.environ | environment, check=False).returncode


def _load(kubeconfig: Path, file: Path) -> None:
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(fleet_objects(Fleet()))}))
    command = [sys.executable, "-m", "muster", "apply", "--with-status", "--force-conflicts", "-q", "-f", str(file)]
    subprocess.run([*command, "--kubeconfig", str(kubeconfig)], check=True)


if __name__ == "__main__":
    sys.exit(main())
