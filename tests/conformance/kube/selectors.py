"""Identity, label and purpose selectors against openMCP's own code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.errors import InvalidObjectError
from muster.selectors import PurposedSelectorSpec, compile_selector
from muster.selectors.purposes import resolve_reference
from tests.conformance.results import CaseResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def run_selectors(data: Mapping[str, Any]) -> Iterator[CaseResult]:
    for case in data["cases"]:
        yield _selector(case)
    for case in data["selectorOrReference"]:
        yield _reference(case)


def _object(given: Mapping[str, Any]) -> dict[str, Any]:
    purposes = given["purposes"]
    request = given["kind"] == "ClusterRequest"
    return {
        "kind": given["kind"],
        "metadata": {key: given[key] for key in ("name", "namespace", "labels")},
        "spec": {"purpose": (purposes or [""])[0]} if request else {"purposes": purposes},
    }


def _selector(case: Mapping[str, Any]) -> CaseResult:
    observed, spec = case["observed"], case["selector"]
    try:
        selector = compile_selector(PurposedSelectorSpec(case["type"], spec))
    except InvalidObjectError as error:
        rule = _stricter(case)
        if rule is not None:
            return CaseResult(case["id"], rule=rule)
        refused = observed.get("validate") or observed.get("decodeError")
        return CaseResult(case["id"], ok=refused is not None, detail=f"refused: {error}")
    if case["object"] is None:
        # Upstream's functions take a nil object; ours are not asked about nothing.
        return CaseResult(case["id"], ok=selector.is_empty == observed["empty"], detail="Empty differs")
    matches = bool(selector.match(_object(case["object"])))
    expected = observed["matches"]
    rule = None
    if _equals_with_duplicates(spec) and matches != expected:
        rule = "purposes are compared as sets"
        (requirement,) = spec["matchPurposes"]
        expected = set(requirement["values"]) == set(case["object"]["purposes"] or ())
    actual = (selector.is_empty, matches, None)
    wanted = (observed["empty"], expected, observed["validate"])
    return CaseResult(case["id"], ok=actual == wanted, detail=f"{actual} instead of {wanted}", rule=rule)


def _stricter(case: Mapping[str, Any]) -> str | None:
    """Where we refuse what upstream takes."""
    if case["observed"].get("validate") or "decodeError" in case["observed"]:
        return None
    requirements = (case["selector"] or {}).get("matchPurposes") or ()
    if any(each["operator"] == "ContainsAll" and not each.get("values") for each in requirements):
        return "ContainsAll needs a purpose"
    if set(case["selector"] or ()) - {"matchIdentities", "matchLabels", "matchExpressions", "matchPurposes"}:
        return "unknown fields in selectors are refused"
    return None


def _equals_with_duplicates(spec: Mapping[str, Any] | None) -> bool:
    requirements = (spec or {}).get("matchPurposes") or ()
    return any(
        each["operator"] == "Equals" and len(set(each.get("values") or ())) != len(each.get("values") or ())
        for each in requirements
    )


def _reference(case: Mapping[str, Any]) -> CaseResult:
    observed, spec = case["observed"], case["selector"]
    try:
        resolved = resolve_reference(spec, case["definitions"])
        selector = compile_selector(
            PurposedSelectorSpec("IdentityLabelPurposeSelector", dict(resolved) if resolved is not None else None)
        )
    except InvalidObjectError as error:
        if spec and "ref" in spec and len(spec) > 1:
            return CaseResult(case["id"], rule="a reference goes with nothing else")
        return CaseResult(case["id"], ok=observed.get("error") is not None, detail=str(error))
    actual = (None, bool(selector.match(_object(case["object"]))), resolved is None)
    wanted = (observed.get("error"), observed["matches"], observed["resolvedNil"])
    return CaseResult(case["id"], ok=actual == wanted, detail=f"{actual} instead of {wanted}")
