"""Runners of the recorded resolver cases: every row in OLM v0's dialect, and again in ours, with the rules by which it
differs."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from muster.resolution.bundles import CatalogKey, Entry, make_bundle
from muster.resolution.catalog import Catalog, Fault, index_catalog
from muster.resolution.channels import BrokenChannelError, sorted_channel
from muster.resolution.clauses import Clause, Kind
from muster.resolution.conflicts import minimal_conflict
from muster.resolution.constraints import (
    CelConstraint,
    InvalidConstraintError,
    Requirement,
    normal_form,
    shipped_form,
)
from muster.resolution.matching import Matcher
from muster.resolution.properties import Property
from muster.resolution.request import Dialect, Installed, Request, UpgradeStrategy, Want
from muster.resolution.resolve import Impossible, Outcome, Refused, Resolved, resolve
from muster.resolution.solver import solve
from muster.resolution.spellings import from_dependency, read_any_spelling
from muster.resolution.upstream_spelling import parse_upstream
from muster.values.semver import InvalidVersionError, parse, parse_tolerant
from muster.values.semver_range import parse_range
from tests.conformance.cel.evaluation import run_olm_cel
from tests.conformance.results import CASES, CaseResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UNREADABLE = "INVALID-JSON:"


def a_property(raw: dict[str, Any]) -> Property:
    value = raw["value"]
    if isinstance(value, str) and value.startswith(UNREADABLE):
        return Property(raw["type"], None, value.removeprefix(UNREADABLE))
    return Property(raw["type"], value)


def an_entry(raw: dict[str, Any], key: CatalogKey) -> Entry | None:
    """A row of a catalog. One whose dependencies cannot be read is dropped when the catalog is loaded, as upstream."""
    properties = [a_property(each) for each in raw.get("properties", ())]
    for each in raw.get("dependencies", ()):
        dependency = a_property(each)
        if dependency.unreadable is not None and dependency.type in ("olm.gvk", "olm.package"):
            return None
        converted = from_dependency(dependency)
        if converted is not None:
            properties.append(converted)
    return Entry(
        make_bundle(raw["name"], raw.get("package", ""), raw.get("version", ""), properties),
        key,
        raw.get("channel", ""),
        raw.get("inDefaultChannel", False),
        raw.get("replaces", ""),
        tuple(raw.get("skips", ())),
        raw.get("skipRange", ""),
    )


def a_catalog(raw: dict[str, Any]) -> Catalog:
    key = CatalogKey(raw["name"], raw["namespace"])
    entries = [an_entry(each, key) for each in raw["bundles"]]
    faults = [Fault(key.name, "a dependency cannot be read")] if None in entries else []
    return index_catalog(
        key,
        [entry for entry in entries if entry is not None],
        priority=raw.get("priority", 0),
        faults=faults,
        unavailable=raw.get("error", ""),
    )


def a_want(raw: dict[str, Any]) -> Want:
    return Want(
        name=raw["name"],
        package=raw.get("package", ""),
        channel=raw.get("channel", ""),
        starting=raw.get("startingCSV", ""),
        catalog=raw.get("catalog", ""),
        catalog_namespace=raw.get("catalogNamespace", ""),
        installed=raw.get("installedCSV", ""),
    )


def an_installed(raw: dict[str, Any]) -> Installed:
    return Installed(
        name=raw["name"],
        version=raw.get("version", ""),
        package=raw.get("package", ""),
        properties=tuple(a_property(each) for each in raw.get("properties", ())),
        owner=raw.get("subscription", ""),
    )


def a_request(row: dict[str, Any], dialect: Dialect) -> Request:
    allowed = row.get("systemAllowPackages")
    return Request(
        catalogs=tuple(map(a_catalog, row["catalogs"])),
        wants=tuple(map(a_want, row["subscriptions"])),
        installed=tuple(map(an_installed, row["installed"])),
        namespaces=tuple(row["namespaces"]),
        dialect=dialect,
        allowed_packages=None if allowed is None else frozenset(allowed),
        installed_error=row.get("sourceError", ""),
    )


def shown(outcome: Outcome, *, replacing: bool = True) -> list[str] | str:
    """An outcome as text to compare: new bundles with where they come from, or the kind of failure."""
    if isinstance(outcome, Resolved):
        lines = []
        for number in outcome.solution.chosen:
            entry = outcome.problem.variables[number]
            if not isinstance(entry, Entry) or entry.installed:
                continue
            current = outcome.problem.replaced.get(number)
            replaces = (current.name if current is not None else entry.replaces) if replacing else ""
            lines.append(f"{entry.name} {entry.channel} {entry.catalog} {replaces}".rstrip())
        return sorted(lines)
    return {Impossible: "NotSatisfiable", Refused: "InputError"}.get(type(outcome), "undecided")


def expected(install: Iterable[dict[str, Any]]) -> list[str]:
    return sorted(
        f"{each['name']} {each['channel']} {each['catalog']} {each.get('replaces', '')}".rstrip() for each in install
    )


def wanted(expect: dict[str, Any]) -> list[list[str] | str]:
    if "error" in expect:
        return [expect["error"]["kind"]]
    return [expected(each) for each in expect.get("installAnyOf", [expect.get("install", [])])]


def upstream_result(row: dict[str, Any]) -> CaseResult:
    """The row in OLM v0's dialect: outcome and, for failures, upstream's text."""
    outcome = resolve(a_request(row, Dialect.OLM_V0))
    got = shown(outcome)
    ok = got in wanted(row["expect"])
    detail = "" if ok else f"wanted {wanted(row['expect'])}, got {got}"
    text_ok = None
    if "error" in row["expect"] and ok:
        text = outcome.text if isinstance(outcome, Refused) else outcome.upstream_text  # type: ignore[union-attr]
        text_ok = text in row["expect"]["error"]["upstreamTexts"]
        detail = detail or ("" if text_ok else f"text {text!r}, wanted {row['expect']['error']['upstreamTexts'][0]!r}")
    return CaseResult(f"{row['id']} (olm-v0)", ok, detail, text_ok=text_ok)


# --- our own dialect: the same answers, except by rule


CONTAINED = "A fault takes out only what it concerns"
SPELLINGS = "Every spelling of a constraint is understood"
ANY_VALUES = "Property values have any type"
TRAILING = "Trailing data is refused"
_UNTYPED = "cannot be range of a comprehension"


def own_result(row: dict[str, Any]) -> CaseResult:
    """The row in our dialect. What we expect where a rule applies: upstream's answer to the row as we understand it,
    every constraint in the shipped spelling and what cannot be used left out."""
    name = f"{row['id']} (muster)"
    outcome = resolve(a_request(row, Dialect.MUSTER))
    got = shown(outcome)
    rule = rule_of(row)
    if rule is None:
        ok = got in wanted(row["expect"])
        return CaseResult(name, ok, "" if ok else f"wanted {wanted(row['expect'])}, got {got}")
    if rule == ANY_VALUES:
        return CaseResult(name, got != "InputError", f"{rule}: got {got}", rule=rule)
    told = isinstance(outcome, Resolved | Impossible) and (rule == SPELLINGS or bool(outcome.problem.faults))
    ours = shown(resolve(a_request(understood(row), Dialect.OLM_V0)))
    # What an optional requirement brings comes on top; upstream has no word for it.
    same = got == ours or (isinstance(got, list) and has_optional(row) and set(ours) <= set(got))
    ok = same and (told or isinstance(outcome, Refused))
    return CaseResult(name, ok, f"{rule}: got {got}, wanted {ours}, faults told: {told}", rule=rule)


def rule_of(row: dict[str, Any]) -> str | None:
    """The rule under which we differ from the recorded answer."""
    recorded = str(row["expect"].get("error", {}).get("upstreamTexts", ""))
    if _UNTYPED in recorded:
        return ANY_VALUES
    properties = [prop for prop, _ in all_requirements(row)]
    ours = [_as_we_read(prop) for prop in properties]
    if any("trailing data" in text for text in ours if isinstance(text, str)):
        return TRAILING
    refused = row["expect"].get("error", {}).get("kind") == "InputError"
    if refused and (any(isinstance(each, str) for each in ours) or not row["namespaces"]):
        return CONTAINED if row["namespaces"] else None
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
    try:
        parse_upstream(a_property(raw))
    except InvalidConstraintError:
        return bool(raw["type"] == "olm.constraint")
    return False


def has_optional(row: dict[str, Any]) -> bool:
    read = [_as_we_read(prop) for prop, _ in all_requirements(row)]
    return any(isinstance(each, dict) and "action" in each["value"] for each in read)


def understood(row: dict[str, Any]) -> dict[str, Any]:
    """The row as we understand it, in words that upstream understands."""
    result = copy.deepcopy(row)
    result.pop("sourceError", None)
    result["installed"] = list({each["name"]: each for each in reversed(result["installed"])}.values())
    for owner in result["installed"]:
        owner["properties"] = [each for each in map(_rewritten, owner.get("properties", ())) if each]
    for catalog in result["catalogs"]:
        kept = []
        for bundle in catalog["bundles"]:
            properties = [_rewritten(each) for each in bundle.get("properties", ())]
            dependencies = [_rewritten(each, dependency=True) for each in bundle.get("dependencies", ())]
            if None not in properties and None not in dependencies:
                converted = [each for each in (*properties, *dependencies) if each]
                kept.append({**bundle, "properties": converted, "dependencies": []})
        catalog["bundles"] = _without_broken_channels(kept, catalog, result["subscriptions"])
    return result


def _rewritten(raw: dict[str, Any], *, dependency: bool = False) -> dict[str, Any] | None:
    """A property in shipped spelling; None if we cannot read it; {} for one that means nothing to upstream."""
    if not dependency and not (raw["type"].startswith("olm.constraint") or raw["type"].endswith(".required")):
        return raw
    read = _as_we_read(raw)
    if isinstance(read, str):
        return None
    if read is None:
        return {} if dependency else raw
    return {} if "action" in read["value"] else _without_property_equals(read)


def _without_property_equals(raw: dict[str, Any]) -> dict[str, Any]:
    """propertyEquals as the rule it stands for; upstream never had it."""
    value = raw["value"]
    if "propertyEquals" not in value:
        return raw
    name, wanted_value = value["propertyEquals"]["name"], value["propertyEquals"]["value"]
    rule = f"properties.exists(p, p.type == {json.dumps(name)} && p.value == {json.dumps(wanted_value)})"
    return {**raw, "value": {"cel": {"rule": rule}}}


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


def run_rows(rows: Any) -> Iterator[CaseResult]:
    for row in rows:
        yield upstream_result(row)
        yield own_result(row)


# --- the parts


def run_solver(data: Any) -> Iterator[CaseResult]:
    for case in data["cases"]:
        yield solver_result(case)


def solver_result(case: dict[str, Any]) -> CaseResult:
    """Variables and constraints as they are; unsatisfiable rows also have a minimal conflict."""
    numbers = {each["id"]: number for number, each in enumerate(case["variables"])}
    clauses = []
    for each in case["variables"]:
        for raw in each["constraints"]:
            others = tuple(numbers.setdefault(name, len(numbers)) for name in raw.get("ids", ()))
            clauses.append(
                Clause(Kind(raw["kind"]), numbers[each["id"]], others, raw.get("n", 1), solver_text(each["id"], raw))
            )
    names = {number: name for name, number in numbers.items()}
    solution = solve(len(numbers), clauses)
    if solution is not None:
        got = sorted(names[number] for number in solution.chosen)
        ok = got == sorted(case["expect"].get("installed", ["unsatisfiable"]))
        return CaseResult(case["id"], ok, "" if ok else f"wanted {case['expect']}, got {got}")
    found = minimal_conflict(len(numbers), clauses, lambda clause: clause.reason) or []
    ok = bool(case["expect"].get("unsatisfiable"))
    texts = sorted(map(str, found))
    text_ok = texts == sorted(case["expect"]["conflicts"]) if "conflicts" in case["expect"] else None
    detail = "" if ok and text_ok is not False else f"wanted {case['expect']}, got unsatisfiable by {texts}"
    return CaseResult(case["id"], ok, detail, text_ok=text_ok)


def solver_text(subject: str, raw: dict[str, Any]) -> str:
    others = ", ".join(raw.get("ids", ()))
    match raw["kind"]:
        case "mandatory":
            return f"{subject} is mandatory"
        case "prohibited":
            return f"{subject} is prohibited"
        case "dependency":
            return (
                f"{subject} requires at least one of {others}"
                if others
                else f"{subject} has a dependency without any candidates to satisfy it"
            )
        case "conflict":
            return f"{subject} conflicts with {others}"
        case _:
            return f"{subject} permits at most {raw['n']} of {others}"


def run_defects(data: Any) -> Iterator[CaseResult]:
    """Where upstream's answer breaks its own rules, both dialects give the right one."""
    for case in data["solver"]:
        yield solver_result(case)
    for row in data["resolver"]:  # these do not say what is replaced
        for dialect in Dialect:
            got = shown(resolve(a_request(row, dialect)), replacing=False)
            ok = got in wanted(row["expect"])
            yield CaseResult(f"{row['id']} ({dialect.value})", ok, f"wanted {row['expect']}, got {got}")


def run_semver(data: Any) -> Iterator[CaseResult]:
    for case in data["ranges"]:
        name = f"range {case['range']!r}"
        try:
            wanted_range = parse_range(case["range"])
        except InvalidVersionError as error:
            yield CaseResult(name, "error" in case, str(error), text_ok=str(error) == case.get("error"))
            continue
        wrong = [text for text in case.get("matches", ()) if parse(text) not in wanted_range]
        wrong += [text for text in case.get("rejects", ()) if parse(text) in wanted_range]
        yield CaseResult(name, "error" not in case and not wrong, f"wrong for {wrong}")
    for case in data["versions"]:
        for reader, key in ((parse, "parse"), (parse_tolerant, "tolerant")):
            try:
                text = str(reader(case["in"]))
            except InvalidVersionError:
                text = None
            yield CaseResult(f"{key} {case['in']!r}", text == (case.get(key) or None), f"got {text}")
    for case in data["compare"]:
        try:
            order = parse_tolerant(case["a"]).compare(parse_tolerant(case["b"]))
        except InvalidVersionError as error:
            yield CaseResult(f"{case['a']} {case['b']}", "error" in case, str(error))
        else:
            yield CaseResult(
                f"{case['a']} {case['b']}", order == case["result"] and "error" not in case, f"got {order}"
            )


def run_constraints_api(data: Any) -> Iterator[CaseResult]:
    for case in data["parse"]:
        size = case["input"].get("$rawBytes")
        prop = Property("olm.constraint", None, "x" * size) if size else Property("olm.constraint", case["input"])
        try:
            got = shipped_form(Requirement(parse_upstream(prop)))
        except InvalidConstraintError as error:
            text = error.reason.removeprefix("parse olm.constraint: ")
            yield CaseResult(case["id"], "error" in case["expect"], text, text_ok=text == case["expect"].get("error"))
        else:
            ok = got == case["expect"].get("constraint")
            yield CaseResult(case["id"], ok, f"got {got}")
    for case in data["cel"]:
        bundle = make_bundle("b", properties=map(a_property, case["properties"]), add_package=False)
        try:
            matched = Matcher(upstream=True).check(CelConstraint(case["rule"]))(bundle)
        except InvalidConstraintError as error:
            yield CaseResult(case["id"], bool(case["expect"].get("compileError")), str(error))
        else:
            yield CaseResult(case["id"], matched == case["expect"].get("matches"), f"got {matched}")


def run_sort_channel(data: Any) -> Iterator[CaseResult]:
    key = CatalogKey("cat", "olm")
    for case in data:
        entries = [each for raw in case["entries"] if (each := an_entry(raw, key)) is not None]
        first = case["entries"][0] if case["entries"] else {}
        try:
            order = [
                entry.name for entry in sorted_channel(entries, first.get("package", ""), first.get("channel", ""))
            ]
        except BrokenChannelError as error:
            text_ok = error.fault == case["expect"].get("error")
            yield CaseResult(case["id"], "error" in case["expect"], error.fault, text_ok=text_ok)
        else:
            yield CaseResult(case["id"], order == case["expect"].get("order"), f"got {order}")


def run_fail_forward(data: Any) -> Iterator[CaseResult]:
    """CSV phases; the catalogs of the same tests are in resolver_upstream.json."""
    rows = json.loads((CASES / "olm" / "resolver_upstream.json").read_text(encoding="utf-8"))
    for case in data:
        chain = case["id"].split("/")[1]
        row = next((each for each in rows if "FailForward" in each["id"] and chain in each["id"]), None)
        bundles = row["catalogs"] if row is not None else [_fail_forward_catalog(case)]
        subscription = case["subscription"]
        request = Request(
            catalogs=tuple(map(a_catalog, bundles)),
            wants=(a_want(subscription),),
            installed=tuple(_csv(each, subscription) for each in case["csvs"]),
            namespaces=(subscription["catalogNamespace"],),
            dialect=Dialect.OLM_V0,
            upgrade_strategy=UpgradeStrategy(case["upgradeStrategy"]),
        )
        yield _fail_forward_result(case, resolve(request))


def _csv(raw: dict[str, Any], subscription: dict[str, Any]) -> Installed:
    group, version, kind = raw["provides"].split("/")
    owned = raw["name"] == subscription["installedCSV"]
    provided = Property("olm.gvk", {"group": group, "version": version, "kind": kind})
    return Installed(
        name=raw["name"],
        version="0.0.0",
        package=subscription["package"] if owned else "",
        properties=(provided,),
        owner=subscription["name"] if owned else "",
        phase=raw["phase"],
        replaces=raw["replaces"],
    )


def _fail_forward_catalog(case: dict[str, Any]) -> dict[str, Any]:
    """The next version after the installed ones, where the test's catalog was not recorded."""
    names = [each["name"] for each in case["csvs"]]
    following = [*names, f"a.v{len(names) + 1}"]
    gvk = {"type": "olm.gvk", "value": {"group": "g", "version": "v", "kind": "k"}}
    bundles = [
        {
            "name": name,
            "version": f"{place}.0.0",
            "package": "a",
            "channel": "alpha",
            "replaces": following[place - 2] if place > 1 else "",
            "properties": [gvk],
        }
        for place, name in enumerate(following, 1)
    ]
    return {"name": "catsrc", "namespace": "catsrc-namespace", "priority": 0, "bundles": bundles}


def _fail_forward_result(case: dict[str, Any], outcome: Outcome) -> CaseResult:
    expect = case["expect"]
    got = shown(outcome)
    if "install" in expect:
        names = [line.split()[0] for line in got] if isinstance(got, list) else got
        replaced = isinstance(got, list) and all(line.endswith(f" {expect['replaces']}") for line in got)
        return CaseResult(case["id"], names == expect["install"] and replaced, f"got {got}")
    kind = "NotSatisfiable" if expect.get("notSatisfiable") else "InputError"
    text = outcome.text if isinstance(outcome, Refused) else getattr(outcome, "upstream_text", "")
    missing = [part for part in expect["contains"] if part not in text]
    return CaseResult(case["id"], got == kind, f"got {got}: {text!r} lacks {missing}", text_ok=not missing)


def run_syntax(data: Any) -> Iterator[CaseResult]:
    for case in data["cases"]:
        try:
            requirement = read_any_spelling(a_property(case["input"]))
        except InvalidConstraintError as error:
            missing = [
                part for part in case["expect"].get("errorContains", ["a normal form"]) if part not in str(error)
            ]
            yield CaseResult(case["id"], not missing, f"{error} lacks {missing}")
            continue
        got = None if requirement is None else normal_form(requirement)
        warned = requirement is not None and bool(requirement.warnings)
        ok = got == case["expect"].get("normal") and warned == bool(case["expect"].get("warnings"))
        yield CaseResult(case["id"], ok, f"got {got}, warnings {requirement.warnings if requirement else ()}")


def run_cel(data: Any) -> Iterator[CaseResult]:
    """Rules in the environment of OLM, then as our own dialect evaluates them."""
    yield from run_olm_cel(data)
    for case in data["cases"]:
        name = f"{case['id']} (muster)"
        raw = data["defaultProperties"] if case["properties"] == "$default" else case["properties"]
        bundle = make_bundle("b", properties=map(a_property, raw), add_package=False)
        matcher = Matcher()
        refused = case["expect"].get("compileError")
        rule = ANY_VALUES if refused and _UNTYPED in refused else None
        try:
            matched = matcher.check(CelConstraint(case["rule"]))(bundle)
        except InvalidConstraintError as error:
            yield CaseResult(name, refused is not None and rule is None, str(error), rule=rule)
            continue
        if "evalError" in case["expect"]:
            yield CaseResult(name, not matched and bool(matcher.failures), "the error was not kept")
        else:
            ok = rule is not None or matched == case["expect"].get("matches")
            yield CaseResult(name, ok, f"wanted {case['expect']}, got {matched}", rule=rule)


FILES = {
    "cel.json": run_cel,
    "constraints_api.json": run_constraints_api,
    "fail_forward.json": run_fail_forward,
    "resolver_edge.json": run_rows,
    "resolver_edge_large.json": run_rows,
    "resolver_upstream.json": run_rows,
    "semver.json": run_semver,
    "solver.json": run_solver,
    "sort_channel.json": run_sort_channel,
    "syntax_normalise.json": run_syntax,
    "upstream_defects.json": run_defects,
}
