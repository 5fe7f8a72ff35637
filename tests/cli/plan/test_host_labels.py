"""`muster plan` over files that are about hosts."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from muster.cli import main
from tests.cli.explain.test_classification import a_query, an_agent

if TYPE_CHECKING:
    from pathlib import Path


def planned(tmp_path: Path, fleet: list[dict[str, Any]], given: list[dict[str, Any]], *options: str) -> tuple[int, str]:
    for name, objects in (("fleet", fleet), ("given", given)):
        (tmp_path / f"{name}.ndjson").write_text("".join(json.dumps(each) + "\n" for each in objects))
    out, err = io.StringIO(), io.StringIO()
    files = ["-f", str(tmp_path / "given.ndjson"), "--fleet", str(tmp_path / "fleet.ndjson")]
    code = main.run(["plan", *files, *options], io.StringIO(), out, err)
    assert err.getvalue() == ""
    return code, out.getvalue()


FLEET = [an_agent(f"a{number:02}", {"cpu": {"count": number}}) for number in range(30)]
BIG = a_query("big", ".cpu.count > 8")


def test_gained_changed_and_failed_labels_are_told_by_what_happens(tmp_path: Path) -> None:
    new = a_query("a-tiny", '.cpu.count == 0 or (.cpu.count == 9 and .hostname - "x")', value="tiny")
    assert planned(tmp_path, [*FLEET, BIG], [new]) == (
        0,
        "hosts/a-tiny: new, 0 → 1 agents, 0 → 1 errors\n"
        "  ! 1 Agents failed to apply the classification:"
        ' cannot subtract: null and string ("x") (for example a09)\n'
        "hosts/big: 21 → 20 agents\n"
        "  ! 1 matching Agents carry another value of inventoryclassification.agent-install.openshift.io/size:"
        " a09 (QUERYERROR-tiny, from AgentClassification a-tiny)\n"
        "hosts: the labels of 2 agents change\n"
        "  + size=tiny: a00\n"
        "  ~ size=big → QUERYERROR-tiny: a09\n",
    )


def test_many_agents_are_named_in_part(tmp_path: Path) -> None:
    code, out = planned(tmp_path, FLEET, [BIG])
    assert code == 0
    assert out == (
        "hosts/big: new, 0 → 21 agents\n"
        "hosts: the labels of 21 agents change\n"
        "  + size=big: a09, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20 … and 9 more\n"
    )
    assert planned(tmp_path, [*FLEET, BIG], [BIG]) == (0, "no label of an agent changes\n")


def test_deleting_takes_labels_away(tmp_path: Path) -> None:
    assert planned(tmp_path, [*FLEET[8:10], BIG], [BIG], "--delete") == (
        0,
        "hosts/big: gone, 1 → 0 agents\nhosts: the labels of 1 agents change\n  - size=big: a09\n",
    )


def test_an_inventory_counts_when_the_status_is_applied_too(tmp_path: Path) -> None:
    grown = an_agent("a00", {"cpu": {"count": 99}})
    assert planned(tmp_path, [*FLEET[:1], BIG], [grown]) == (0, "no label of an agent changes\n")
    code, out = planned(tmp_path, [*FLEET[:1], BIG], [grown], "--with-status")
    assert (code, out.splitlines()[-1]) == (0, "  + size=big: a00")


def test_machines_read_every_change(tmp_path: Path) -> None:
    code, out = planned(tmp_path, FLEET[8:10], [BIG], "-o", "json")
    hosts = json.loads(out)["hosts"]
    assert (code, hosts["labels"]) == (
        0,
        [{"namespace": "hosts", "agent": "a09", "key": "size", "before": None, "after": "big"}],
    )
    assert [{**each, "conditions": len(each["conditions"])} for each in hosts["classifications"]] == [
        {
            "namespace": "hosts",
            "name": "big",
            "isNew": True,
            "isGone": False,
            "matchedCount": {"before": 0, "after": 1},
            "errorCount": {"before": 0, "after": 0},
            "conditions": 2,
        }
    ]
