"""`muster classify` over files."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from muster.cli import main

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "02-classify-hosts"
GROUP = "agent-install.openshift.io/v1beta1"


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = {**main.COMMANDS, "classify": ("muster.cli.classify.command", "Say which labels hosts get.")}
    monkeypatch.setattr(main, "COMMANDS", commands)


def called(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main.run(["classify", *args], io.StringIO(), out, err), out.getvalue(), err.getvalue()


def an_agent(name: str, inventory: dict[str, Any], **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "hosts", "labels": labels}
    return {"apiVersion": GROUP, "kind": "Agent", "metadata": metadata, "status": {"inventory": inventory}}


def a_query(name: str, key: str, value: str, query: str) -> dict[str, Any]:
    spec = {"labelKey": key, "labelValue": value, "query": query}
    return {"apiVersion": GROUP, "kind": "AgentClassification", "metadata": {"name": name}, "spec": spec}


@pytest.fixture
def agents(tmp_path: Path) -> str:
    path = tmp_path / "agents.ndjson"
    found = [
        an_agent("small", {"cpu": {"count": 2}}, rack="r1"),
        an_agent("large", {"cpu": {"count": 64}, "disks": [{"sizeBytes": 5}]}),
    ]
    path.write_text("".join(json.dumps(each) + "\n" for each in found))
    return str(path)


def queries(tmp_path: Path, *found: dict[str, Any]) -> str:
    path = tmp_path / "queries.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": list(found)}))
    return str(path)


def test_who_gets_what_and_how_the_classifications_fare(agents: str, tmp_path: Path) -> None:
    wanted = queries(tmp_path, a_query("big", "size", "large", ".cpu.count > 8"))
    assert called("-f", wanted, "--agents", agents) == (
        0,
        "NAMESPACE   AGENT   LABELS\n"
        "hosts       large   size=large\n"
        "hosts       small\n"
        "\n"
        "NAMESPACE   CLASSIFICATION   MATCHED   ERRORS   NOTE\n"
        "hosts       big              1         0\n",
        "",
    )
    assert called("-f", wanted, "--agents", agents, "-o", "name") == (0, "large\n", "")


def test_errors_are_findings(agents: str, tmp_path: Path) -> None:
    wanted = queries(tmp_path, a_query("d", "disks", "some", "[.disks[]] | length > 0"), a_query("x", "x", "y", ".("))
    code, out, _ = called("-f", wanted, "--agents", agents)
    assert code == 1
    assert "hosts       small   disks=QUERYERROR-some,x=QUERYERROR-y\n" in out
    assert "1 Agents failed to apply the classification: cannot iterate over: null (for example small)\n" in out
    assert 'ERROR: <input>:1:2: unexpected token "("\n' in out


def test_the_report_is_data_too(agents: str, tmp_path: Path) -> None:
    wanted = queries(tmp_path, a_query("big", "size", "large", ".cpu.count > 8"))
    code, out, _ = called("-f", wanted, "--agents", agents, "-o", "json")
    found = json.loads(out)
    label = "inventoryclassification.agent-install.openshift.io/size"
    assert code == 0
    assert found["agents"][0] == {
        "namespace": "hosts",
        "name": "large",
        "labels": {label: "large"},
        "changes": {label: "large"},
        "outcomes": {"big": "match"},
    }
    assert [(each["name"], each["matchedCount"]) for each in found["classifications"]] == [("big", 1)]


def test_why_shows_the_values_of_the_querys_parts(agents: str, tmp_path: Path) -> None:
    wanted = queries(tmp_path, a_query("big", "size", "large", ".cpu.count > 8"))
    assert called("-f", wanted, "--agents", agents, "--why", "large") == (
        0,
        "large: size=large\n"
        "\n"
        "big (size=large): match\n"
        '  .cpu            {"count":64}\n'
        "  .cpu.count      64\n"
        "  .cpu.count > 8  true\n",
        "",
    )
    assert called("-f", wanted, "--agents", agents, "--why", "hosts/small")[0] == 1
    assert called("-f", wanted, "--agents", agents, "--why", "nobody") == (
        2,
        "",
        "muster: there is no agent 'nobody'\n",
    )


def test_bad_input_is_told(agents: str, tmp_path: Path) -> None:
    wanted = queries(tmp_path, a_query("big", "size", "", "true"))
    code, out, err = called("-f", wanted, "--agents", agents)
    assert (code, out) == (2, "")
    assert err == 'muster: AgentClassification big: spec.labelValue: Invalid value: "": must not be empty\n'
    assert called("-f", agents, "--agents", agents)[2] == f"muster: {agents}: there is no AgentClassification here\n"


def test_the_example_prints_what_its_page_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLE)
    page = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"```console\n\$ muster (.*?)\n(.*?)```", page, re.DOTALL)
    assert len(shown) == 3
    for arguments, output in shown:
        out = io.StringIO()
        main.run(arguments.split(), io.StringIO(), out, io.StringIO())
        assert out.getvalue() == output
