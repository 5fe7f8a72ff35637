"""The guide to guards: its tables have the names there are, and what it shows can be read."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from muster.placement.guards import fleet_guards, placement_guard
from muster.placement.guards.settings import FLEET_NAMES, MULTICLUSTER, NAMES

GUIDE = (Path(__file__).resolve().parents[3] / "docs" / "guides" / "guards.md").read_text(encoding="utf-8")
FURTHER = ("quiet-time", "removal-hours", "freeze-removals")
SHOWN = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)]


def test_the_table_has_every_annotation_and_its_examples_can_be_read() -> None:
    table = GUIDE.partition("| annotation `placement.muster.dev/…`")[2].partition("\n\n")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| `")]
    assert [row[1].strip().strip("`") for row in rows] == [*NAMES[:3], *FURTHER]
    for row in rows:
        for example in re.findall(r"`([^`]+)`", row[2]):
            found = placement_guard({f"placement.muster.dev/{row[1].strip().strip('`')}": example})
            assert found is not None
            assert found.faults == ()


def test_what_the_guide_shows_guards() -> None:
    placement, config_map, role = SHOWN
    guard = placement_guard(placement["metadata"]["annotations"])
    assert guard is not None
    assert guard.faults == ()
    assert config_map["data"].keys() <= set(FLEET_NAMES) - {MULTICLUSTER}
    fleet = fleet_guards(config_map["data"])
    assert fleet.brake is not None
    assert fleet.guard is not None
    assert fleet.guard.faults == ()
    assert "approve" in role["rules"][0]["verbs"]
