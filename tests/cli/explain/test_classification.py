"""`muster explain classification` over files."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from muster.cli import main

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "02-classify-hosts"
GROUP = "agent-install.openshift.io/v1beta1"


def called(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main.run(["explain", "classification", *args], io.StringIO(), out, err), out.getvalue(), err.getvalue()


def an_agent(name: str, inventory: dict[str, Any], namespace: str | None = "hosts", **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "labels": labels, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": GROUP, "kind": "Agent", "metadata": metadata, "status": {"inventory": inventory}}


def a_query(
    name: str, query: str, key: str = "size", value: str = "big", namespace: str | None = "hosts"
) -> dict[str, Any]:
    spec = {"labelKey": key, "labelValue": value, "query": query}
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": GROUP, "kind": "AgentClassification", "metadata": metadata, "spec": spec}


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(*objects: dict[str, Any]) -> str:
        path = tmp_path / "fleet.ndjson"
        path.write_text("".join(json.dumps(each) + "\n" for each in objects))
        return str(path)

    return write


def test_thousands_of_agents_are_told_by_outcome_each_with_an_example(written: Any) -> None:
    agents = [an_agent(f"a{number:04}", {"cpu": {"count": number % 16}}) for number in range(2_000)]
    fleet = written(*agents, an_agent("z", {"cpu": 5}), a_query("big", ".cpu.count > 8"))
    assert called("big", "--fleet", fleet) == (
        1,
        "big in hosts sets size=big where .cpu.count > 8\n"
        "it matches 875 of 2001 agents and is on 875\n"
        "\n"
        "875 match (a0009, a0010, a0011, a0012, a0013, …)\n"
        '  .cpu            {"count":9}\n'
        "  .cpu.count      9\n"
        "  .cpu.count > 8  true\n"
        "\n"
        "1 error: expected an object but got: number (5) (z)\n"
        "  .cpu  5\n"
        "\n"
        "1125 no match (a0000, a0001, a0002, a0003, a0004, …)\n"
        '  .cpu            {"count":0}\n'
        "  .cpu.count      0\n"
        "  .cpu.count > 8  false\n",
        "",
    )


def test_one_agent_is_told_with_the_values_of_every_part() -> None:
    code, out, _ = called("storage-large", "--fleet", str(EXAMPLE), "--agent", "store-1")
    assert code == 0
    assert "store-1: match\n" in out
    assert "  .sizeBytes > 1073741824000                                    false, true, true\n" in out
    assert called("size-medium", "--fleet", str(EXAMPLE), "--agent", "hosts/edge-1")[0] == 0
    assert called("size-large", "--fleet", str(EXAMPLE), "--agent", "edge-1") == (
        1,
        "size-large in hosts sets size=large where .cpu.count >= 32 and .memory.physicalBytes >= 137438953472\n"
        "\n"
        "edge-1: no match\n"
        '  .cpu                                                        {"architecture":"x86_64","count":2}\n'
        "  .cpu.count                                                  2\n"
        "  .cpu.count >= 32                                            false\n"
        "  .cpu.count >= 32 and .memory.physicalBytes >= 137438953472  false\n",
        "",
    )


def test_what_is_in_the_way_of_a_label_is_told(written: Any) -> None:
    label = "inventoryclassification.agent-install.openshift.io/size"
    fleet = written(
        an_agent("a", {}),
        an_agent("b", {}, **{label: "mine"}),
        a_query("one", "true"),
        a_query("two", "true", value="huge"),
    )
    code, out, _ = called("two", "--fleet", fleet, "--agent", "a")
    assert code == 1
    assert "a: match\n  the label is not applied, its key has the value big, from AgentClassification one\n" in out
    assert "its key has the value mine, set by hand\n" in called("one", "--fleet", fleet, "--agent", "b")[1]
    code, out, _ = called("one", "--fleet", fleet)
    assert code == 1
    assert f"! 1 matching Agents carry another value of {label}: b (mine, set by hand)\n" in out
    assert "it matches 2 of 2 agents and is on 1\n" in out


def test_a_query_that_cannot_run_is_told_with_its_place(written: Any) -> None:
    fleet = written(an_agent("a", {}), a_query("typo", ".cpu.count =="))
    assert called("typo", "--fleet", fleet) == (
        1,
        "typo in hosts sets size=big where .cpu.count ==\n"
        "! ERROR: <input>:1:14: unexpected EOF\n"
        "!  | .cpu.count ==\n"
        "!  | .............^\n"
        "it matches 0 of 1 agents and is on 0\n"
        "\n"
        "1 error: the query is not valid: unexpected EOF (a)\n",
        "",
    )


def test_machines_read_json_and_yaml(written: Any) -> None:
    fleet = written(an_agent("a", {"cpu": {"count": 9}}), a_query("big", ".cpu.count > 8"))
    told = json.loads(called("big", "--fleet", fleet, "-o", "json")[1])
    assert told == yaml.safe_load(called("big", "--fleet", fleet, "-o", "yaml")[1])
    parts = [
        {"text": ".cpu", "values": [{"count": 9}], "more": 0},
        {"text": ".cpu.count", "values": [9], "more": 0},
        {"text": ".cpu.count > 8", "values": [True], "more": 0},
    ]
    assert {key: told[key] for key in ("classification", "namespace", "label", "query", "agents", "outcomes")} == {
        "classification": "big",
        "namespace": "hosts",
        "label": "size=big",
        "query": ".cpu.count > 8",
        "agents": 1,
        "outcomes": [
            {
                "outcome": "match",
                "text": "",
                "why": {"code": "QueryMatches"},
                "count": 1,
                "examples": ["a"],
                "parts": parts,
            }
        ],
    }
    one = json.loads(called("big", "--fleet", fleet, "--agent", "a", "-o", "json")[1])
    assert {key: one[key] for key in ("agent", "outcome", "text", "value", "taken", "parts")} == {
        "agent": "a",
        "outcome": "match",
        "text": "",
        "value": "big",
        "taken": None,
        "parts": parts,
    }


def test_namespaces_are_found_or_asked_for(written: Any) -> None:
    anywhere = a_query("big", ".cpu.count > 8", namespace=None)
    fleet = written(an_agent("a", {}, "one"), an_agent("b", {}, "two"), anywhere)
    code, _, err = called("big", "--fleet", fleet)
    assert (code, err) == (2, "muster: the agents are in several namespaces, one, two: choose with -n\n")
    assert "it matches 0 of 1 agents" in called("big", "--fleet", fleet, "-n", "two")[1]
    assert called("big", "--fleet", fleet, "--agent", "two/b")[0] == 1
    two = written(a_query("big", "true", namespace="one"), a_query("big", "true", namespace="two"))
    assert called("big", "--fleet", two)[2] == (
        "muster: there are several of the name 'big', in one, two: choose with -n\n"
    )
    assert "it matches 0 of 0 agents and is on 0\n" in called("big", "--fleet", two, "-n", "one")[1]
    bare = written(an_agent("a", {}, None), anywhere)
    assert "it matches 0 of 1 agents" in called("big", "--fleet", bare)[1]


def test_what_is_not_there_is_said(written: Any) -> None:
    fleet = written(an_agent("a", {}), a_query("big", "true"))
    assert called("small", "--fleet", fleet)[2] == "muster: there is no AgentClassification 'small'\n"
    missing = "muster: there is no agent 'b' in namespace hosts\n"
    assert called("big", "--fleet", fleet, "--agent", "b")[0::2] == (2, missing)
