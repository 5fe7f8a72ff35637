"""Label and field selectors and name rules against what Kubernetes' apimachinery answered (kube/labels.json)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.values.fields import InvalidFieldSelectorError, parse_field_selector
from muster.values.labels import (
    InvalidSelectorError,
    format_label_selector,
    from_label_selector,
    label_selector_as_map,
    label_selector_causes,
    parse_selector,
    requirement,
    to_label_selector,
)
from muster.values.names import (
    dns_label_problems,
    label_value_problems,
    qualified_name_problems,
    subdomain_problems,
    without_trailing_dash,
)
from tests.conformance.suites import PLAIN, Kind, Suite, Verdict, by, keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Case = dict[str, Any]


def _judge(case: Case, _: Kind, actual: Case) -> Verdict:
    expected = case["observed"]
    texts = {key for key in expected if "rror" in key}
    said = "" if actual == expected else f"{case.get('input')!r}: expected {expected}, got {actual}"
    same = _without_texts(actual, texts) == _without_texts(expected, texts)
    return Verdict(() if same else (said,), actual == expected if texts else None, remarks=said if same else "")


def _without_texts(observed: Mapping[str, Any], texts: set[str]) -> dict[str, Any]:
    """Error texts reduced to whether there is one."""
    return {key: bool(value) if key in texts else value for key, value in observed.items()}


def _parse(case: Case) -> Case:
    try:
        parsed = parse_selector(case["input"])
    except InvalidSelectorError as error:
        return {"error": str(error)}
    observed: Case = {
        "empty": parsed.is_everything,
        "error": None,
        "requirements": [
            {"key": each.key, "operator": each.operator.value, "values": sorted(each.values)}
            for each in parsed.requirements
        ],
        "string": str(parsed),
    }
    try:
        observed |= {"toLabelSelector": to_label_selector(parsed), "toLabelSelectorError": None}
    except InvalidSelectorError as error:
        observed["toLabelSelectorError"] = str(error)
    if "labels" in case:
        observed["matches"] = parsed.matches(case["labels"])
    return observed


def _requirement(case: Case) -> Case:
    try:
        return {"error": None, "string": str(requirement(case["key"], case["op"], case["values"]))}
    except InvalidSelectorError as error:
        return {"error": str(error)}


def _label_selector(case: Case) -> Case:
    spec = case["selector"]
    observed: Case = {
        "validationErrors": [str(cause) for cause in label_selector_causes(spec, "spec.selector")],
        "asMapError": None,
    }
    try:
        observed["asMap"] = label_selector_as_map(spec)
    except InvalidSelectorError as error:
        # What was converted before the mistake is returned with it upstream; nobody should use it.
        observed |= {"asMapError": str(error), "asMap": case["observed"]["asMap"]}
    try:
        compiled = from_label_selector(spec)
    except InvalidSelectorError as error:
        return observed | {"error": str(error)}
    return observed | {
        "empty": compiled.is_everything,
        "error": None,
        "format": format_label_selector(spec),
        "matches": compiled.matches(case["labels"]),
        "string": str(compiled),
    }


def _field_selector(case: Case) -> Case:
    try:
        parsed = parse_field_selector(case["input"])
    except InvalidFieldSelectorError as error:
        return {"error": str(error)}
    values = case["labels"]
    return {
        "empty": not parsed.requirements,
        "error": None,
        "matches": parsed.matches(lambda field: values.get(field, "")),
        "string": str(parsed),
    }


def _problems(check: Callable[[str], list[str]]) -> Callable[[Case], Case]:
    return lambda case: {"errors": check(case["input"])}


_OBSERVERS: Mapping[str, Callable[[Case], Case]] = {
    "parse": _parse,
    "requirement": _requirement,
    "labelSelector": _label_selector,
    "fieldSelector": _field_selector,
    "qualifiedName": _problems(qualified_name_problems),
    "labelValue": _problems(label_value_problems),
    "dns1123Label": _problems(dns_label_problems),
    "dns1123Subdomain": _problems(subdomain_problems),
    "nameIsDNSSubdomainGenerate": _problems(lambda prefix: subdomain_problems(without_trailing_dash(prefix))),
}

LABELS = Suite(
    cases=lambda data: data["cases"],
    name=lambda case: str(case["id"]),
    classify=lambda _: PLAIN,
    running=by(lambda case: _OBSERVERS[case["fn"]](case)),
    judge=_judge,
    shape=keys("id fn input source upstreamExpects observed labels key op values selector note"),
)
