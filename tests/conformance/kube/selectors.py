"""Identity, label and purpose selectors against openMCP's own code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.errors import InvalidObjectError
from muster.selectors import PurposedSelectorSpec, compile_selector
from muster.selectors.purposes import resolve_reference
from tests.conformance.suites import PLAIN, Kind, Rule, Suite, Verdict, by, differing, keys

if TYPE_CHECKING:
    from collections.abc import Mapping


def _object(given: Mapping[str, Any]) -> dict[str, Any]:
    purposes = given["purposes"]
    request = given["kind"] == "ClusterRequest"
    return {
        "kind": given["kind"],
        "metadata": {key: given[key] for key in ("name", "namespace", "labels")},
        "spec": {"purpose": (purposes or [""])[0]} if request else {"purposes": purposes},
    }


# --- Selectors

SETS = "purposes are compared as sets"
NEEDED = "ContainsAll needs a purpose"
UNKNOWN = "unknown fields in selectors are refused"
ALONE = "a reference goes with nothing else"
_FIELDS = frozenset({"matchIdentities", "matchLabels", "matchExpressions", "matchPurposes"})


def classify(case: Mapping[str, Any]) -> Kind:
    """Where we refuse what upstream takes, or compare what it counts."""
    observed, spec = case["observed"], case["selector"] or {}
    if observed.get("validate") or observed.get("decodeError"):
        return PLAIN
    requirements = spec.get("matchPurposes") or ()
    if any(each["operator"] == "ContainsAll" and not each.get("values") for each in requirements):
        return Rule(NEEDED)
    if spec.keys() - _FIELDS:
        return Rule(UNKNOWN)
    return Rule(SETS) if case["object"] is not None and _equals_with_duplicates(spec) else PLAIN


def _run(case: Mapping[str, Any]) -> dict[str, Any]:
    try:
        selector = compile_selector(PurposedSelectorSpec(case["type"], case["selector"]))
    except InvalidObjectError as error:
        return {"refused": str(error)}
    found: dict[str, Any] = {"empty": selector.is_empty}
    if case["object"] is not None:  # upstream's functions take a nil object; ours are not asked about nothing
        found["matches"] = bool(selector.match(_object(case["object"])))
    return found


def judge(case: Mapping[str, Any], kind: Kind, ours: dict[str, Any]) -> Verdict:
    observed = case["observed"]
    refused = kind in (Rule(NEEDED), Rule(UNKNOWN)) or bool(observed.get("validate") or observed.get("decodeError"))
    if refused:
        about = {NEEDED: "ContainsAll", UNKNOWN: ""}.get(kind.name, "") if isinstance(kind, Rule) else ""
        return Verdict(
            () if about in ours.get("refused", "-") and "refused" in ours else (f"wanted a refusal, got {ours}",)
        )
    wanted = {"empty": observed["empty"], "matches": observed["matches"]}
    if case["object"] is None:
        del wanted["matches"]
    elif kind == Rule(SETS):
        purposes = set(case["object"]["purposes"] or ())
        others = {
            **(case["selector"] or {}),
            "matchPurposes": [each for each in case["selector"]["matchPurposes"] if each["operator"] != "Equals"],
        }
        equal = all(
            set(each.get("values") or ()) == purposes
            for each in case["selector"]["matchPurposes"]
            if each["operator"] == "Equals"
        )
        rest = compile_selector(PurposedSelectorSpec(case["type"], others))
        wanted["matches"] = equal and bool(rest.match(_object(case["object"])))
    return Verdict(tuple(differing(wanted, ours)))


SELECTORS = Suite(
    cases=lambda data: data["cases"],
    name=lambda case: str(case["id"]),
    classify=classify,
    running=by(_run),
    judge=judge,
    shape=keys("id type selector object source upstreamExpects observed note"),
)


def _equals_with_duplicates(spec: Mapping[str, Any]) -> bool:
    return any(
        each["operator"] == "Equals" and len(set(each.get("values") or ())) != len(each.get("values") or ())
        for each in spec.get("matchPurposes") or ()
    )


# --- References


def classify_reference(case: Mapping[str, Any]) -> Kind:
    spec = case["selector"]
    return Rule(ALONE) if spec and "ref" in spec and len(spec) > 1 else PLAIN


def _run_reference(case: Mapping[str, Any]) -> dict[str, Any]:
    try:
        resolved = resolve_reference(case["selector"], case["definitions"])
        selector = compile_selector(
            PurposedSelectorSpec("IdentityLabelPurposeSelector", dict(resolved) if resolved is not None else None)
        )
    except InvalidObjectError as error:
        return {"refused": str(error)}
    return {"matches": bool(selector.match(_object(case["object"]))), "resolvedNil": resolved is None}


def judge_reference(case: Mapping[str, Any], kind: Kind, ours: dict[str, Any]) -> Verdict:
    observed = case["observed"]
    if isinstance(kind, Rule) or observed.get("error") is not None:
        return Verdict(() if "refused" in ours else (f"wanted a refusal, got {ours}",))
    return Verdict(tuple(differing({name: observed[name] for name in ("matches", "resolvedNil")}, ours)))


REFERENCES = Suite(
    cases=lambda data: data["selectorOrReference"],
    name=lambda case: str(case["id"]),
    classify=classify_reference,
    running=by(_run_reference),
    judge=judge_reference,
    shape=keys("id selector definitions object observed source note"),
)
