"""Whole resolutions: every row in OLM v0's dialect, and again in ours with the rules by which it differs."""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any

from muster.resolution.catalog.dependencies import from_dependency
from muster.resolution.constraints.forms import InvalidConstraintError, shipped_form
from muster.resolution.constraints.matching import Matcher
from muster.resolution.constraints.spellings import read_any_spelling
from muster.resolution.constraints.upstream_spelling import read_upstream
from muster.resolution.request import Dialect
from muster.resolution.resolve import Impossible, Refused, Resolved, resolve
from tests.conformance.olm.requests import a_catalog, a_property, a_request, shown, wanted
from tests.conformance.suites import PLAIN, Kind, Rule, Suite, Verdict, by, keys

if TYPE_CHECKING:
    from collections.abc import Iterator


# --- OLM's own dialect


def _run_upstream(row: dict[str, Any]) -> dict[str, Any]:
    outcome = resolve(a_request(row, Dialect.OLM_V0))
    text = outcome.text if isinstance(outcome, Refused) else getattr(outcome, "upstream_text", "")
    return {"outcome": shown(outcome), "text": text}


def _judge_upstream(row: dict[str, Any], _: Kind, ours: dict[str, Any]) -> Verdict:
    """The outcome and, for failures, upstream's text."""
    if ours["outcome"] not in wanted(row["expect"]):
        return Verdict((f"wanted {wanted(row['expect'])}, got {ours['outcome']}: {ours['text']}",))
    if "error" not in row["expect"]:
        return Verdict()
    texts = row["expect"]["error"]["upstreamTexts"]
    same = ours["text"] in texts
    return Verdict(text_ok=same, remarks="" if same else f"text {ours['text']!r}, wanted {texts[0]!r}")


# --- our own dialect: the same answers, except by rule


CONTAINED = "A fault takes out only what it concerns"
SPELLINGS = "Every spelling of a constraint is understood"
ANY_VALUES = "Property values have any type"
STRICT = "Constraints are read strictly"
SLASHES = "Channel names may have slashes"
UNTYPED = "cannot be range of a comprehension"
_VALUE = re.compile(r"""\b\w+(?:\.value\b|\[(['"])value\1\])""")


def _run_own(row: dict[str, Any]) -> dict[str, Any]:
    outcome = resolve(a_request(row, Dialect.MUSTER))
    faults = outcome.problem.faults if isinstance(outcome, Resolved | Impossible) else ()
    return {"outcome": shown(outcome), "faults": [(each.where, each.text) for each in faults]}


def classify(row: dict[str, Any]) -> Kind:
    rule = rule_of(row)
    return PLAIN if rule is None else Rule(rule)


def _judge_own(row: dict[str, Any], kind: Kind, ours: dict[str, Any]) -> Verdict:
    """Where a rule applies we expect upstream's answer to the row as we understand it, every constraint in the shipped
    spelling and what cannot be used left out; and that what is left out is told, and nothing else."""
    got, faults = ours["outcome"], ours["faults"]
    if not isinstance(kind, Rule):
        return Verdict(() if got in wanted(row["expect"]) else (f"wanted {wanted(row['expect'])}, got {got}",))
    right = twin(row, kind.name)
    if kind.name == SLASHES and isinstance(got, list):
        got = sorted(line.replace("/", "-") for line in got)
        right = sorted(line.replace("/", "-") for line in right) if isinstance(right, list) else right
    differences = [] if got == right else [f"wanted {right}, got {got}"]
    if got != "InputError":
        differences += _told_wrongly(row, kind.name, faults)
    return Verdict(tuple(differences))


def twin(row: dict[str, Any], rule: str) -> list[str] | str:
    """Upstream's answer to the row in words that it understands."""
    if rule == SLASHES:
        return shown(resolve(a_request(without_slashes(row), Dialect.OLM_V0)))
    found = shown(resolve(a_request(understood(row), Dialect.OLM_V0)))
    if has_optional(row):
        # Upstream has no word for it: met as if it were required, when that changes nothing else; else left out.
        met = shown(resolve(a_request(understood(row, optional=True), Dialect.OLM_V0)))
        found = met if isinstance(met, list) and set(found) <= set(met) else found
    return found


def _told_wrongly(row: dict[str, Any], rule: str, faults: list[tuple[str, str]]) -> list[str]:
    """Faults are told of the bundles that we cannot read; where all can be read, of what upstream names."""
    if rule not in (CONTAINED, STRICT):
        return [f"told of {faults} where nothing is wrong"] if faults else []
    if not faults:
        return ["no fault is told"]
    unreadable = {owner["name"] for prop, owner in all_requirements(row) if isinstance(_as_we_read(prop), str)}
    if unreadable:
        told = {where.partition("/")[0] for where, _ in faults}
        return [] if told <= unreadable else [f"told of {sorted(told)}, while {sorted(unreadable)} cannot be read"]
    recorded = " ".join(row["expect"]["error"]["upstreamTexts"])
    return [f"told of {where}: {text!r}, upstream of {recorded!r}" for where, text in faults if text not in recorded]


def rule_of(row: dict[str, Any]) -> str | None:
    """The rule under which we differ from the recorded answer."""
    recorded = str(row["expect"].get("error", {}).get("upstreamTexts", ""))
    if UNTYPED in recorded:
        return ANY_VALUES
    if "unable to parse identifier" in recorded:
        return SLASHES
    properties = [prop for prop, _ in all_requirements(row)]
    ours = [_as_we_read(prop) for prop in properties]
    refused = row["expect"].get("error", {}).get("kind") == "InputError"
    if refused and not row["namespaces"]:
        return None
    if any(isinstance(each, str) for each in ours):  # what upstream cannot read either fails everything there
        return CONTAINED if refused else STRICT if _reads_more(row) else None
    upstream_ignores = any(prop["type"] == "olm.constraint.cel" for prop in properties)
    if (refused and any(_upstream_refuses(prop) for prop in properties)) or upstream_ignores:
        return SPELLINGS
    return CONTAINED if refused else None


def all_requirements(row: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every requirement, with the bundle that has it."""
    for owner in [*(b for catalog in row["catalogs"] for b in catalog["bundles"]), *row["installed"]]:
        for prop in owner.get("properties", ()):
            if prop["type"].startswith("olm.constraint") or prop["type"].endswith(".required"):
                yield prop, owner
        for prop in owner.get("dependencies", ()):
            yield prop, owner


def _as_we_read(raw: dict[str, Any]) -> dict[str, Any] | str | None:
    """The shipped spelling of a requirement, None if it is none, or our error."""
    try:
        requirement = read_any_spelling(a_property(raw))
        if requirement is not None:
            Matcher().check(requirement.constraint)
    except InvalidConstraintError as error:
        return str(error)
    return None if requirement is None else {"type": "olm.constraint", "value": shipped_form(requirement)}


def _upstream_refuses(raw: dict[str, Any]) -> bool:
    prop = a_property(raw)
    try:
        requirement = read_upstream(from_dependency(prop) or prop)
        if requirement is not None:
            Matcher(upstream=True).check(requirement.constraint)
    except InvalidConstraintError:
        return True
    return False


def without_slashes(row: dict[str, Any]) -> dict[str, Any]:
    """The row with channel names that upstream can take apart."""
    result = copy.deepcopy(row)
    for each in [
        *result["subscriptions"],
        *(bundle for catalog in result["catalogs"] for bundle in catalog["bundles"]),
    ]:
        if "channel" in each:
            each["channel"] = each["channel"].replace("/", "-")
    return result


def has_optional(row: dict[str, Any]) -> bool:
    read = [_as_we_read(prop) for prop, _ in all_requirements(row)]
    return any(isinstance(each, dict) and "action" in each["value"] for each in read)


def understood(row: dict[str, Any], *, optional: bool = False) -> dict[str, Any]:
    """The row as we understand it, in words that upstream understands; with optional requirements as required ones,
    or without."""
    result = copy.deepcopy(row)
    result.pop("sourceError", None)
    result["installed"] = list({each["name"]: each for each in reversed(result["installed"])}.values())
    for owner in result["installed"]:
        owner["properties"] = [each for each in _all_rewritten(owner, "properties", optional) if each]
    for catalog in result["catalogs"]:
        if catalog.pop("error", ""):
            catalog["bundles"] = []  # a catalog that cannot be listed is left out, with a warning
        kept = []
        for bundle in catalog["bundles"]:
            properties = _all_rewritten(bundle, "properties", optional)
            dependencies = _all_rewritten(bundle, "dependencies", optional)
            if None not in properties and None not in dependencies:
                converted = [each for each in (*properties, *dependencies) if each]
                kept.append({**bundle, "properties": converted, "dependencies": []})
        catalog["bundles"] = _without_broken_channels(kept, catalog, result["subscriptions"])
    return result


def _reads_more(row: dict[str, Any]) -> bool:
    """Whether upstream reads a requirement that we refuse."""
    pairs = ((prop, _as_we_read(prop)) for prop, _ in all_requirements(row))
    return any(isinstance(ours, str) and not _upstream_refuses(prop) for prop, ours in pairs)


def _all_rewritten(owner: dict[str, Any], kind: str, optional: bool) -> list[dict[str, Any] | None]:
    dependency = kind == "dependencies"
    return [_rewritten(each, dependency=dependency, optional=optional) for each in owner.get(kind, ())]


def _rewritten(raw: dict[str, Any], *, dependency: bool, optional: bool) -> dict[str, Any] | None:
    """A property in shipped spelling; None if we cannot read it; {} for one that means nothing to upstream."""
    if not dependency and not (raw["type"].startswith("olm.constraint") or raw["type"].endswith(".required")):
        return raw
    read = _as_we_read(raw)
    if isinstance(read, str):
        return None
    if read is None:
        return {} if dependency else raw
    if "action" in read["value"] and not optional:
        return {}
    value = {key: item for key, item in read["value"].items() if key != "action"}
    return {**read, "value": _in_upstreams_kinds(value)}


def _in_upstreams_kinds(value: dict[str, Any]) -> dict[str, Any]:
    """Kinds that olm.constraint never had, as the rules they stand for."""
    message = {key: item for key, item in value.items() if key == "failureMessage"}
    (kind,) = value.keys() - message.keys()
    content = value[kind]
    match kind:
        case "propertyEquals":
            name, equal = json.dumps(content["name"]), json.dumps(content["value"])
            return message | {"cel": {"rule": f"properties.exists(p, p.type == {name} && p.value == {equal})"}}
        case "label":
            label = json.dumps(content["label"])
            return message | {
                "cel": {"rule": f"properties.exists(p, p.type == 'olm.label' && p.value.label == {label})"}
            }
        case "cel":
            return message | {"cel": {"rule": with_any_values(content["rule"])}}
        case "all" | "any" | "not":
            return message | {kind: {"constraints": [_in_upstreams_kinds(each) for each in content["constraints"]]}}
        case _:
            return value


def with_any_values(rule: str) -> str:
    """A rule in which upstream too takes the values of properties for whatever they are."""
    return _VALUE.sub(r"dyn(\g<0>)", rule)


def _without_broken_channels(
    bundles: list[dict[str, Any]], catalog: dict[str, Any], subscriptions: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Nothing in a broken channel can be chosen; what is installed from it stays."""
    indexed = a_catalog({**catalog, "bundles": bundles})
    kept = [each for each in bundles if (each.get("package", ""), each.get("channel", "")) not in indexed.broken]
    kept += [
        {"name": each["installedCSV"], "package": key.package, "channel": key.channel}
        for key in indexed.broken
        for each in subscriptions
        if each["package"] == key.package and each.get("installedCSV")
    ]
    return kept


SHAPE = {
    **dict.fromkeys(
        keys(
            "id description tags namespaces catalogs subscriptions installed source notes note "
            "systemAllowPackages sourceError what"
        )
    ),
    "expect": {
        "install": None,
        "installAnyOf": None,
        "upstreamDeterministic": None,
        "error": keys("kind upstreamTexts conflictsAlways conflictsSometimes"),
    },
}
UPSTREAM_ROWS = Suite(
    cases=list,
    name=lambda row: f"{row['id']} (olm-v0)",
    classify=lambda _: PLAIN,
    running=by(_run_upstream),
    judge=_judge_upstream,
    shape=SHAPE,
)
OWN_ROWS = Suite(
    cases=list,
    name=lambda row: f"{row['id']} (muster)",
    classify=classify,
    running=by(_run_own),
    judge=_judge_own,
    shape=SHAPE,
)
