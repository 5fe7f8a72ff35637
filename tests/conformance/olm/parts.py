"""The parts of the resolver, each against what was recorded of its counterpart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from muster.resolution.bundles import CatalogKey, make_bundle
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
from muster.resolution.request import Dialect, Installed, Request, UpgradeStrategy
from muster.resolution.resolve import Outcome, Refused, resolve
from muster.resolution.solver import solve
from muster.resolution.spellings import meaningless, read_any_spelling
from muster.resolution.upstream_spelling import parse_upstream
from muster.values.semver import InvalidVersionError, parse, parse_tolerant
from muster.values.semver_range import parse_range
from tests.conformance.cel.evaluation import run_olm_cel
from tests.conformance.olm.requests import a_catalog, a_property, a_request, a_want, an_entry, shown, wanted
from tests.conformance.olm.rows import ANY_VALUES, UNTYPED, with_any_values
from tests.conformance.results import CASES, CaseResult

if TYPE_CHECKING:
    from collections.abc import Iterator


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
        prop = a_property(case["input"])
        warned = bool(requirement.warnings) if requirement is not None else meaningless(prop) is not None
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
        rule = ANY_VALUES if refused and UNTYPED in refused else None
        try:
            matched = matcher.check(CelConstraint(case["rule"]))(bundle)
        except InvalidConstraintError as error:
            yield CaseResult(name, refused is not None and rule is None, str(error), rule=rule)
            continue
        if "evalError" in case["expect"]:
            yield CaseResult(name, not matched and bool(matcher.failures), "the error was not kept")
        else:
            wanted_match = case["expect"].get("matches")
            if rule is not None:
                wanted_match = Matcher(upstream=True).check(CelConstraint(with_any_values(case["rule"])))(bundle)
            yield CaseResult(name, matched == wanted_match, f"wanted {wanted_match}, got {matched}", rule=rule)
