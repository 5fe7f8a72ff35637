"""Files for Prometheus, Grafana, systemd and krew: current, and taken by the programs that read them."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
from typing import TYPE_CHECKING

import pytest
import yaml
from release.observing import DASHBOARDS, DEPLOY, HUB_ALERTS, written
from release.plugin import NAME, manifest, plugin
from release.source import Source

from muster.kubernetes.objects.monitoring import ALERTS

if TYPE_CHECKING:
    from pathlib import Path

ROOT = DEPLOY.parent
_METRIC = re.compile(r"\b((?:apiserver|muster|scheduling|workqueue|process)_[a-z_]+)\b")


def expressions() -> dict[str, str]:
    found = {alert.name: alert.expression.replace("{ours}", "") for alert in (*ALERTS, *HUB_ALERTS)}
    for uid, (_, panels) in DASHBOARDS.items():
        for number, panel in enumerate(panels):
            for at, (query, _) in enumerate(panel.queries):
                found[f"{uid.replace('-', '_')}_{number}_{at}"] = query.replace("$__rate_interval", "5m")
    return found


def test_the_files_are_current() -> None:
    assert [path.name for path, text in written().items() if path.read_text(encoding="utf-8") != text] == [], (
        "run: python -m release.observing"
    )


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed (Debian package prometheus)")
def test_promtool_takes_the_rules_and_every_expression_of_the_dashboards(tmp_path: Path) -> None:
    rules = DEPLOY / "prometheus" / "muster.rules.yaml"
    queries = [{"record": f"muster:{name}", "expr": text} for name, text in expressions().items()]
    panels = tmp_path / "panels.yaml"
    panels.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": queries}]}), encoding="utf-8")
    done = subprocess.run(["promtool", "check", "rules", rules, panels], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_metric_that_is_asked_for_is_declared_somewhere() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "muster").rglob("*.py"))
    ours = ("process", "muster_controllers_process")  # what prometheus-client tells of a process, under two names
    unknown = []
    for name, text in expressions().items():
        for metric in set(_METRIC.findall(text)):
            base = re.sub(r"_(bucket|total|count|sum)$", "", metric)
            family, _, last = base.rpartition("_")
            spellings = {metric, base, base.removesuffix("_duration_seconds")}
            declared = any(f'"{each}"' in sources for each in spellings) or base.startswith(ours)
            made_of_parts = f'f"{family}_{{name}}"' in sources and f'"{last}"' in sources
            if not declared and not made_of_parts:
                unknown.append(f"{name}: {metric}")
    assert unknown == [], unknown


@pytest.mark.parametrize("uid", DASHBOARDS)
def test_a_dashboard_has_panels_that_do_not_overlap_and_ask_the_chosen_source(uid: str) -> None:
    board = json.loads((DEPLOY / "grafana" / f"{uid}.json").read_text(encoding="utf-8"))
    taken: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert taken.isdisjoint(cells)
        taken |= cells
        assert max(x for x, _ in cells) < 24
        assert all(target["datasource"]["uid"] == "${source}" for target in panel["targets"])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_takes_the_unit_and_finds_it_hardened() -> None:
    unit = str(DEPLOY / "systemd" / "muster-hub.service")
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    complaints = [
        line for line in done.stderr.splitlines() if "is not executable" not in line
    ]  # where it is not installed
    assert complaints == []
    command = ["systemd-analyze", "security", "--offline=yes", "--threshold=20", unit]
    judged = subprocess.run(command, capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout[-300:]  # 20 stands for 2.0 of 10


def test_krews_manifest_names_the_archive_by_its_checksum() -> None:
    source = Source(ROOT, "1.2.3", "abc", 1_700_000_000)
    archive = plugin(source)
    assert archive == plugin(source)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        members = {member.name: member.mode for member in tar}
        script = tar.extractfile(NAME)
        assert script is not None
        text = script.read().decode()
    assert members == {NAME: 0o755, "LICENSE": 0o644}
    assert "muster-hub==1.2.3" in text
    told = yaml.safe_load(manifest(source, archive, "https://example.invalid/x"))
    assert (told["apiVersion"], told["kind"], told["metadata"]["name"]) == (
        "krew.googlecontainertools.github.com/v1alpha2",
        "Plugin",
        "muster",
    )
    # What krew refuses, as far as it is known: its own validator cannot be had from the module proxy.
    assert re.fullmatch(r"[a-z0-9-]+", told["metadata"]["name"])
    assert re.fullmatch(r"v\d+\.\d+\.\d+", told["spec"]["version"])
    chosen = [platform["selector"]["matchLabels"] for platform in told["spec"]["platforms"]]
    assert chosen == [{"os": "linux"}, {"os": "darwin"}]  # none fits a machine that another one fits
    for platform in told["spec"]["platforms"]:
        assert platform.keys() == {"selector", "uri", "sha256", "bin"}
        assert platform["sha256"] == hashlib.sha256(archive).hexdigest()
        assert platform["bin"] in members
    assert len(told["spec"]["shortDescription"]) <= 50


def test_the_plugin_runs_an_installed_muster_and_says_what_is_missing(tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(plugin(Source(ROOT, "1.2.3", "abc", 0)))) as tar:
        tar.extractall(tmp_path, filter="data")
    without = subprocess.run(
        ["/bin/sh", str(tmp_path / NAME), "version"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (without.returncode, "pipx install muster-hub" in without.stderr) == (127, True)
    (tmp_path / "muster").write_text('#!/bin/sh\necho "ran: $*"\n', encoding="utf-8")
    (tmp_path / "muster").chmod(0o755)
    there = subprocess.run(
        ["/bin/sh", str(tmp_path / NAME), "get", "placements"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout == "ran: get placements\n"
