"""AgentClassification: a label for every agent of the namespace whose inventory a jq query accepts."""

from __future__ import annotations

from typing import Final

from muster.api import parts
from muster.api.agent import GROUP
from muster.api.cel_rules import CelRule
from muster.api.parts import Condition, Node, ObjectMeta, Part
from muster.api.reading import Reader
from muster.api.resource import PrinterColumn, Resource, Version
from muster.values.causes import Cause, invalid
from muster.values.json import JsonObject
from muster.values.names import (
    LABEL_KEY_RULE,
    LABEL_VALUE_RULE,
    NAME_LENGTH,
    label_value_problems,
    qualified_name_problems,
)

LABEL_PREFIX: Final = "inventoryclassification.agent-install.openshift.io/"
ERROR_PREFIX: Final = "QUERYERROR-"
_RESERVED: Final = "QUERYERROR"
_LONGEST_VALUE: Final = NAME_LENGTH - len(ERROR_PREFIX)  # so that the error form is a label value too
_IMMUTABLE: Final = "field is immutable"
_IS_RESERVED: Final = f"label must not start with {_RESERVED} as this is reserved"
_TOO_LONG: Final = f"must be no more than {_LONGEST_VALUE} characters, because {ERROR_PREFIX}<value> is a label too"


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
    return [invalid(f"spec.{name}", now, _IMMUTABLE) for name, (now, was) in labels.items() if now != was]


def label_causes(label_key: str, value: str) -> list[Cause]:
    """What is wrong with the label of a classification."""
    key = LABEL_PREFIX + label_key
    causes = [invalid("spec.labelKey", key, problem) for problem in qualified_name_problems(key)]
    problems = label_value_problems(value)
    if value.startswith(_RESERVED):
        problems.append(_IS_RESERVED)
    if not value:
        problems.append("must not be empty")
    elif not problems and len(value) > _LONGEST_VALUE:
        problems.append(_TOO_LONG)
    return causes + [invalid("spec.labelValue", value, problem) for problem in problems]


_KEY: Final = ("spec", "labelKey")
_VALUE: Final = ("spec", "labelValue")
_KEY_PROBLEMS: Final = f"format.qualifiedName().validate('{LABEL_PREFIX}' + self)"
CEL_RULES: Final = (
    CelRule(
        "has(self.spec) || (oldSelf.hasValue() && !has(oldSelf.value().spec))",
        "spec.labelKey, spec.labelValue and spec.query are needed",
        optional_old=True,
    ),
    CelRule("self == oldSelf", _IMMUTABLE, _KEY),
    CelRule("self == oldSelf", _IMMUTABLE, _VALUE),
    CelRule(
        f"!{_KEY_PROBLEMS}.hasValue()",
        f"with {LABEL_PREFIX} before it {LABEL_KEY_RULE}",
        _KEY,
    ),
    CelRule(
        "!format.labelValue().validate(self).hasValue()",
        LABEL_VALUE_RULE,
        _VALUE,
    ),
    CelRule(f"!self.startsWith('{_RESERVED}')", _IS_RESERVED, _VALUE),
    CelRule("self != ''", "must not be empty", _VALUE),
    CelRule(f"size(self) <= {_LONGEST_VALUE}", _TOO_LONG, _VALUE),
)

_SPEC = parts.obj(
    "The label and the query.",
    ("labelKey", "labelValue", "query"),
    {
        "labelKey": parts.string("The key of the label, without its prefix. Cannot be changed.", maxLength=NAME_LENGTH),
        "labelValue": parts.string("The value of the label. Cannot be changed.", maxLength=NAME_LENGTH),
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
    cel_rules=CEL_RULES,
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
