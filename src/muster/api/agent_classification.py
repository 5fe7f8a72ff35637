"""AgentClassification: a label for every agent of the namespace whose inventory a jq query accepts."""

from __future__ import annotations

from typing import Any, Final

from muster.api import parts
from muster.api.agent import GROUP
from muster.api.parts import Condition, Node, ObjectMeta, Part
from muster.api.resource import PrinterColumn, Resource, Version
from muster.values.causes import Cause, invalid


class AgentClassificationSpec(Part, frozen=True):
    label_key: str = ""
    label_value: str = ""
    query: str = ""


class AgentClassificationStatus(Node, frozen=True):
    matched_count: int = 0
    error_count: int = 0
    conditions: tuple[Condition, ...] = ()


class AgentClassification(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: AgentClassificationSpec = AgentClassificationSpec()
    status: AgentClassificationStatus = AgentClassificationStatus()


def rules(new: dict[str, Any], old: dict[str, Any] | None) -> list[Cause]:
    """The label may not change: agents would keep the old one."""
    if old is None:
        return []
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    return [
        invalid(f"spec.{name}", spec.get(name), "field is immutable")
        for name in ("labelKey", "labelValue")
        if spec.get(name) != before.get(name)
    ]


_SPEC = parts.obj(
    "The label and the query.",
    ("labelKey", "labelValue", "query"),
    {
        "labelKey": parts.string("The key of the label, without its prefix. Cannot be changed."),
        "labelValue": parts.string("The value of the label. Cannot be changed."),
        "query": parts.string("A jq query over the agent's inventory that answers true or false."),
    },
)
_STATUS = parts.obj(
    "How the query fares.",
    properties={
        "matchedCount": {"type": "integer", "description": "How many agents match."},
        "errorCount": {"type": "integer", "description": "On how many agents the query failed."},
        "conditions": parts.LOOSE_CONDITIONS,
    },
)

AGENT_CLASSIFICATION: Final = Resource(
    group=GROUP,
    kind="AgentClassification",
    plural="agentclassifications",
    singular="agentclassification",
    list_kind="AgentClassificationList",
    namespaced=True,
    rules=rules,
    versions=(
        Version(
            "v1beta1",
            parts.kind("Labels agents by their inventory.", _SPEC, _STATUS),
            (
                PrinterColumn("Key", "string", ".spec.labelKey"),
                PrinterColumn("Value", "string", ".spec.labelValue"),
                PrinterColumn("Matched", "integer", ".status.matchedCount"),
                PrinterColumn("Errors", "integer", ".status.errorCount"),
                parts.condition_column("Valid", "QueryValid"),
                PrinterColumn("Query", "string", ".spec.query", priority=1),
                parts.AGE,
            ),
            status=True,
        ),
    ),
)
