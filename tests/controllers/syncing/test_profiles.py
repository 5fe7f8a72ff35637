"""Clusters of ClusterProfiles from end to end: imported, reached with a program that is allowed, kept true."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
from typing import TYPE_CHECKING, Any

from muster.cli.main import run
from muster.collecting.plugins import read_plugins
from tests.collecting.fakes import TOKEN
from tests.controllers.running import CLUSTERS, eventually
from tests.controllers.syncing.running import syncing
from tests.controllers.syncing.test_sync import status, synced

if TYPE_CHECKING:
    from pathlib import Path

    from tests.collecting.fakes import FakeClusters
    from tests.controllers.running import Driver


def a_program(folder: Path, expires: str = "2099-01-01T00:00:00Z") -> Path:
    """One that writes down how it was started, and answers with a token."""
    program = folder / "plugin"
    answer = {"kind": "ExecCredential", "status": {"token": TOKEN, "expirationTimestamp": expires}}
    lines = [
        f"#!{sys.executable}",
        "import json, os, sys",
        "from datetime import datetime, timedelta, timezone",
        f"answer = json.loads({json.dumps(answer)!r})",
        "if answer['status']['expirationTimestamp'] == 'soon':",
        "    until = datetime.now(timezone.utc) + timedelta(seconds=20.5)",
        "    answer['status']['expirationTimestamp'] = until.strftime('%Y-%m-%dT%H:%M:%SZ')",
        "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])",
        "with open(sys.argv[0] + '.told', 'a') as told:",
        "    seen = [sys.argv[1:], info['spec']['cluster']['server'], os.environ.get('REGION'), os.environ['PATH']]",
        "    told.write(json.dumps(seen) + '\\n')",
        "print(json.dumps(answer))",
    ]
    program.write_text("\n".join(lines) + "\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_profiles_are_imported_and_kept_true_with_programs_that_no_shell_starts(
    hub: Driver, clusters: FakeClusters, tmp_path: Path
) -> None:
    told = clusters.add("east")
    prefix = "clusterprofiles.multicluster.x-k8s.io/exec"
    evil = [f"; touch {tmp_path}/pwned", f"$(touch {tmp_path}/pwned)", "*"]
    extensions = [
        {"name": f"{prefix}/additional-args", "extension": evil},
        {"name": f"{prefix}/additional-envs", "extension": {"REGION": "eu", "PATH": str(tmp_path)}},
    ]
    server = clusters.kubeconfig("east")["clusters"][0]["cluster"]
    providers = [
        {"name": "not-allowed", "cluster": {"server": "https://127.0.0.1:1"}},
        {"name": "allowed", "cluster": {**server, "extensions": extensions}},
    ]
    path = "/apis/multicluster.x-k8s.io/v1alpha1/namespaces/apps/clusterprofiles"
    kind = {"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ClusterProfile"}
    profile = {**kind, "metadata": {"name": "east"}, "spec": {"clusterManager": {"name": "somebody"}}}
    hub.send("POST", path, profile)
    hub.patch(f"{path}/east/status", {"status": {"accessProviders": providers}})
    kubeconfig = str(hub.hub.kubeconfig(tmp_path / "hub.kubeconfig"))
    program, file = a_program(tmp_path, "soon"), tmp_path / "providers.json"
    config = {"command": str(program), "args": ["own"], "provideClusterInfo": True}
    allowed = {"name": "allowed", "execConfig": config, "profileSourcedCLIArgsPolicy": "Append"}
    file.write_text(json.dumps({"providers": [{**allowed, "profileSourcedEnvVarsPolicy": "AppendIfNotExists"}]}))

    def said(*command: str) -> tuple[int, str]:
        out = io.StringIO()
        return run(list(command), io.StringIO(), out, out), out.getvalue()

    def started() -> list[Any]:
        found = tmp_path / "plugin.told"
        return [json.loads(line) for line in found.read_text().splitlines()] if found.exists() else []

    imported = said("import", "clusterprofiles", kubeconfig, "--hub-kubeconfig", kubeconfig, "--yes")
    assert imported[0] == 0, imported[1]
    hub.patch(f"{CLUSTERS}/east", {"spec": {"leaseDurationSeconds": 1}})
    code, text = said("sync", "--kubeconfig", kubeconfig)
    assert (code, "offers the access providers allowed, not-allowed; this process may use none" in text) == (1, True)
    assert (told.requests, started()) == (0, []), "nothing is started that no file names"
    assert said("sync", "--kubeconfig", kubeconfig, "--providers", str(file)) == (0, "east: Synced v1.33.1\n")
    assert started() == [[["own", *evil], server["server"], "eu", os.environ["PATH"]]]
    assert not (tmp_path / "pwned").exists()
    # The token lasts half a second more than nothing: the program is asked again, and so for ever.
    with syncing(hub, plugins=read_plugins(file)):
        eventually(lambda: synced(hub, "east"), ("True", "Synced"))
        eventually(lambda: len(started()) >= 3, True)
        program.write_text("#!/bin/sh\necho a secret of the operator; exit 3\n")
        eventually(lambda: synced(hub, "east"), ("False", "NoAccess"))
        assert "a secret" not in json.dumps(status(hub, "east"))
        a_program(tmp_path)
        eventually(lambda: synced(hub, "east"), ("True", "Synced"))
    assert not (tmp_path / "pwned").exists()
