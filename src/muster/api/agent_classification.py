"""AgentClassification: a label for every agent of the namespace whose inventory a jq query accepts."""

from __future__ import annotations

from typing import Final

from muster.api import parts
from muster.api.agent import GROUP
from muster.api.parts import Condition, Node, ObjectMeta, Part
from muster.api.reading import Reader
from muster.api.resource import PrinterColumn, Resource, Version
from muster.values.causes import Cause, invalid
from muster.values.json import JsonObject
from muster.values.names import label_value_problems, qualified_name_problems

LABEL_PREFIX: Final = "inventoryclassification.agent-install.openshift.io/"
ERROR_PREFIX: Final = "QUERYERROR-"
_RESERVED: Final = "QUERYERROR"
_LONGEST_VALUE: Final = 63 - len(ERROR_PREFIX)  # so that the error form is a label value too


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


_READER: Final = Reader(AgentClassification)


def rules(new: JsonObject, old: JsonObject | None) -> list[Cause]:
    """The label must be one, in its error form too. It may not change: agents would keep the old one."""
    spec = _READER.of(new).spec
    if old is None:
        return label_causes(spec.label_key, spec.label_value)
    before = _READER.of(old).spec
    labels = {"labelKey": (spec.label_key, before.label_key), "labelValue": (spec.label_value, before.label_value)}
    return [invalid(f"spec.{name}", now, "field is immutable") for name, (now, was) in labels.items() if now != was]


def label_causes(label_key: str, value: str) -> list[Cause]:
    """What is wrong with the label of a classification."""
    key = LABEL_PREFIX + label_key
    causes = [invalid("spec.labelKey", key, problem) for problem in qualified_name_problems(key)]
    problems = label_value_problems(value)
    if value.startswith(_RESERVED):
        problems.append(f"label must not start with {_RESERVED} as this is reserved")
    if not value:
        problems.append("must not be empty")
    elif not problems and len(value) > _LONGEST_VALUE:
        problems.append(
            f"must be no more than {_LONGEST_VALUE} characters, because {ERROR_PREFIX}<value> is a label too"
        )
    return causes + [invalid("spec.labelValue", value, problem) for problem in problems]


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
