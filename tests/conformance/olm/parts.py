"""The parts of the resolver, each against what was recorded of its counterpart."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from muster.resolution.catalog.bundles import CatalogKey, make_bundle
from muster.resolution.catalog.channels import BrokenChannelError, sorted_channel
from muster.resolution.catalog.properties import Property
from muster.resolution.constraints.forms import (
    CelConstraint,
    InvalidConstraintError,
    Requirement,
    normal_form,
    shipped_form,
)
from muster.resolution.constraints.matching import Matcher
from muster.resolution.constraints.spellings import meaningless, read_any_spelling
from muster.resolution.constraints.upstream_spelling import parse_upstream
from muster.resolution.request import Dialect, Installed, Request, UpgradeStrategy
from muster.resolution.resolve import Outcome, Refused, resolve
from muster.resolution.solving.clauses import Clause
from muster.resolution.solving.clauses import Kind as ClauseKind
from muster.resolution.solving.conflicts import minimal_conflict
from muster.resolution.solving.solver import solve
from muster.values.semver import InvalidVersionError, parse, parse_tolerant
from muster.values.semver_range import parse_range
from tests.conformance.cel.others import OLM_SHAPE, olm_cases
from tests.conformance.olm.requests import a_catalog, a_property, a_request, a_want, an_entry, shown, wanted
from tests.conformance.olm.rows import ANY_VALUES, UNTYPED, with_any_values
from tests.conformance.olm.rows import SHAPE as ROW_SHAPE
from tests.conformance.results import CASES
from tests.conformance.suites import PLAIN, Kind, Rule, Suite, Verdict, by, differing, keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _plainly(_: Any) -> Kind:
    return PLAIN


def _id(case: dict[str, Any]) -> str:
    return str(case["id"])


def tagged(*parts: str) -> Callable[[Any], Iterator[dict[str, Any]]]:
    """The cases of a file in parts, each with the name of its part."""

    def cases(data: Any) -> Iterator[dict[str, Any]]:
        for part in parts:
            for case in data[part]:
                yield {**case, "part": part} if isinstance(case, dict) else case

    return cases


# --- The solver


def _solve(case: dict[str, Any]) -> dict[str, Any]:
    """Variables and constraints as they are; unsatisfiable rows also have a minimal conflict."""
    numbers = {each["id"]: number for number, each in enumerate(case["variables"])}
    clauses = []
    for each in case["variables"]:
        for raw in each["constraints"]:
            others = tuple(numbers.setdefault(name, len(numbers)) for name in raw.get("ids", ()))
            clauses.append(
                Clause(
                    ClauseKind(raw["kind"]), numbers[each["id"]], others, raw.get("n", 1), solver_text(each["id"], raw)
                )
            )
    names = {number: name for name, number in numbers.items()}
    solution = solve(len(numbers), clauses)
    if solution is not None:
        return {"installed": sorted(names[number] for number in solution.chosen)}
    found = minimal_conflict(len(numbers), clauses, lambda clause: clause.reason) or []
    return {"unsatisfiable": True, "conflicts": sorted(map(str, found))}


def _judge_solver(case: dict[str, Any], _: Kind, ours: dict[str, Any]) -> Verdict:
    expect = case["expect"]
    if "installed" in expect or "installed" in ours:
        good = ours.get("installed") == sorted(expect.get("installed", ["unsatisfiable"]))
        return Verdict(() if good else (f"wanted {expect}, got {ours}",))
    same = ours["conflicts"] == sorted(expect["conflicts"]) if "conflicts" in expect else None
    return Verdict(
        () if expect.get("unsatisfiable") else (f"wanted {expect}, got {ours}",),
        same,
        remarks=f"wanted {expect}, got {ours}" if same is False else "",
    )


_SOLVER_EXPECT = keys("installed unsatisfiable conflicts upstreamConflicts")
_SOLVER_SHAPE = {
    **dict.fromkeys(keys("id source variables what upstreamAnswer note part")),
    "expect": _SOLVER_EXPECT,
}
SOLVER = Suite(lambda data: data["cases"], _id, _plainly, by(_solve), _judge_solver, _SOLVER_SHAPE)


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


# --- Where upstream's answer breaks its own rules, both dialects give the right one

DEFECTS_OF_SOLVER = replace(SOLVER, cases=lambda data: data["solver"])


def _defects(data: Any) -> Iterator[dict[str, Any]]:
    for row in data["resolver"]:
        for dialect in Dialect:
            yield {**row, "part": dialect.value} if isinstance(row, dict) else row


def _judge_defect(row: dict[str, Any], _: Kind, got: list[str] | str) -> Verdict:
    return Verdict(() if got in wanted(row["expect"]) else (f"wanted {row['expect']}, got {got}",))


DEFECTS = Suite(
    cases=_defects,
    name=lambda row: f"{row['id']} ({row['part']})",
    classify=_plainly,
    # these do not say what is replaced
    running=by(lambda row: shown(resolve(a_request(row, Dialect(row["part"]))), replacing=False)),
    judge=_judge_defect,
    shape={**ROW_SHAPE, "part": None},
)


# --- Versions


def _semver_name(case: dict[str, Any]) -> str:
    match case["part"]:
        case "ranges":
            return f"range {case['range']!r}"
        case "versions":
            return f"version {case['in']!r}"
        case _:
            return f"{case['a']} {case['b']}"


def _semver(case: dict[str, Any]) -> dict[str, Any]:
    match case["part"]:
        case "ranges":
            try:
                accepted = parse_range(case["range"])
            except InvalidVersionError as error:
                return {"error": str(error)}
            return {
                "matches": [text for text in case.get("matches", ()) if parse(text) in accepted],
                "rejects": [text for text in case.get("rejects", ()) if parse(text) not in accepted],
            }
        case "versions":
            return {"parse": _read(parse, case["in"]), "tolerant": _read(parse_tolerant, case["in"])}
        case _:
            try:
                return {"result": parse_tolerant(case["a"]).compare(parse_tolerant(case["b"]))}
            except InvalidVersionError as error:
                return {"error": str(error)}


def _read(reader: Callable[[str], Any], text: str) -> str | None:
    try:
        return str(reader(text))
    except InvalidVersionError:
        return None


def _judge_semver(case: dict[str, Any], _: Kind, ours: dict[str, Any]) -> Verdict:
    """Ranges take and refuse what they should, versions are read as they should; errors where they should be."""
    if case.get("error"):
        same = ours.get("error") == case["error"] if case["part"] == "ranges" else None
        return Verdict(
            () if "error" in ours else (f"wanted the error {case['error']!r}, got {ours}",),
            same,
            remarks=f"wanted {case['error']!r}, got {ours.get('error')!r}" if same is False else "",
        )
    names = {"ranges": ("matches", "rejects"), "versions": ("parse", "tolerant"), "compare": ("result",)}[case["part"]]
    expected = {name: case.get(name) or ([] if case["part"] == "ranges" else None) for name in names}
    if case["part"] == "compare":
        expected = {"result": case["result"]}
    return Verdict(tuple(differing(expected, ours)))


SEMVER = Suite(
    cases=tagged("ranges", "versions", "compare"),
    name=_semver_name,
    classify=_plainly,
    running=by(_semver),
    judge=_judge_semver,
    shape=keys("part range matches rejects error in parse tolerant parseError tolerantError a b result note"),
)


# --- operator-framework/api's own tests


def _constraint(case: dict[str, Any]) -> dict[str, Any]:
    if case["part"] == "cel":
        bundle = make_bundle("b", properties=map(a_property, case["properties"]), add_package=False)
        try:
            return {"matches": Matcher(upstream=True).check(CelConstraint(case["rule"]))(bundle)}
        except InvalidConstraintError:
            return {"compileError": True}
    size = case["input"].get("$rawBytes")
    prop = Property("olm.constraint", None, "x" * size) if size else Property("olm.constraint", case["input"])
    try:
        return {"constraint": shipped_form(Requirement(parse_upstream(prop)))}
    except InvalidConstraintError as error:
        return {"error": error.reason.removeprefix("parse olm.constraint: ")}


def _judge_constraint(case: dict[str, Any], _: Kind, ours: dict[str, Any]) -> Verdict:
    expect = dict(case["expect"])
    if "error" in expect and "error" in ours:
        return Verdict(text_ok=ours["error"] == expect["error"], remarks=ours["error"])
    if expect.get("compileError"):
        expect["compileError"] = True  # whatever it says
    return Verdict(tuple(differing(expect, ours)))


CONSTRAINTS_API = Suite(
    cases=tagged("parse", "cel"),
    name=_id,
    classify=_plainly,
    running=by(_constraint),
    judge=_judge_constraint,
    shape={
        **dict.fromkeys(keys("part id source input rule properties note")),
        "expect": keys("constraint error matches compileError"),
    },
)


# --- Channels


def _sorted(case: dict[str, Any]) -> dict[str, Any]:
    key = CatalogKey("cat", "olm")
    entries = [each for raw in case["entries"] if (each := an_entry(raw, key)) is not None]
    first = case["entries"][0] if case["entries"] else {}
    try:
        found = sorted_channel(entries, first.get("package", ""), first.get("channel", ""))
    except BrokenChannelError as error:
        return {"error": str(error)}
    return {"order": [entry.name for entry in found]}


def _judge_channel(case: dict[str, Any], _: Kind, ours: dict[str, Any]) -> Verdict:
    expect = case["expect"]
    if "error" in expect and "error" in ours:
        return Verdict(text_ok=ours["error"] == expect["error"], remarks=ours["error"])
    return Verdict(tuple(differing(expect, ours)))


SORT_CHANNEL = Suite(
    cases=list,
    name=_id,
    classify=_plainly,
    running=by(_sorted),
    judge=_judge_channel,
    shape={**dict.fromkeys(keys("id source entries note")), "expect": keys("order error")},
)


# --- Phases of installed operators; the catalogs of the same tests are in resolver_upstream.json


def _forward(case: dict[str, Any]) -> Outcome:
    path = CASES / "olm" / "resolver_upstream.json"
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
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
    return resolve(request)


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


def _judge_forward(case: dict[str, Any], _: Kind, outcome: Outcome) -> Verdict:
    expect = case["expect"]
    got = shown(outcome)
    if "install" in expect:
        names = [line.split()[0] for line in got] if isinstance(got, list) else got
        replaced = isinstance(got, list) and all(line.endswith(f" {expect['replaces']}") for line in got)
        return Verdict(() if names == expect["install"] and replaced else (f"wanted {expect}, got {got}",))
    kind = "NotSatisfiable" if expect.get("notSatisfiable") else "InputError"
    text = outcome.text if isinstance(outcome, Refused) else getattr(outcome, "upstream_text", "")
    missing = [part for part in expect["contains"] if part not in text]
    wrong = () if got == kind else (f"wanted {kind}, got {got}: {text!r}",)
    return Verdict(wrong, text_ok=not missing, remarks=f"{text!r} lacks {missing}" if missing else "")


FAIL_FORWARD = Suite(
    cases=list,
    name=_id,
    classify=_plainly,
    running=by(_forward),
    judge=_judge_forward,
    shape={
        **dict.fromkeys(keys("id source upgradeStrategy subscription csvs catalogBundles note")),
        "expect": keys("notSatisfiable contains install replaces error"),
    },
)


# --- Spellings


def _spelt(case: dict[str, Any]) -> dict[str, Any]:
    prop = a_property(case["input"])
    try:
        requirement = read_any_spelling(prop)
    except InvalidConstraintError as error:
        return {"error": str(error)}
    if requirement is None:
        return {"normal": None, "warned": meaningless(prop) is not None}
    return {"normal": normal_form(requirement), "warned": bool(requirement.warnings)}


def _judge_spelling(case: dict[str, Any], _: Kind, ours: dict[str, Any]) -> Verdict:
    expect = case["expect"]
    if "errorContains" in expect:
        missing = [part for part in expect["errorContains"] if part not in ours.get("error", "")]
        return Verdict((f"wanted an error with {missing}, got {ours}",) if missing or "error" not in ours else ())
    right = {"normal": expect.get("normal"), "warned": bool(expect.get("warnings"))}
    return Verdict(tuple(differing(right, ours)))


SYNTAX = Suite(
    cases=lambda data: data["cases"],
    name=_id,
    classify=_plainly,
    running=by(_spelt),
    judge=_judge_spelling,
    shape={**dict.fromkeys(keys("id input note")), "expect": keys("normal warnings errorContains")},
)


# --- Rules of constraints, as our own dialect evaluates them


def _classify_own_cel(case: dict[str, Any]) -> Kind:
    return Rule(ANY_VALUES) if UNTYPED in (case["expect"].get("compileError") or "") else PLAIN


def _own_cel(case: dict[str, Any]) -> dict[str, Any]:
    matcher = Matcher()
    bundle = make_bundle("b", properties=map(a_property, case["properties"]), add_package=False)
    try:
        matched = matcher.check(CelConstraint(case["rule"]))(bundle)
    except InvalidConstraintError:
        return {"refused": True}
    return {"matches": matched, "failed": bool(matcher.failures)}


def _judge_own_cel(case: dict[str, Any], kind: Kind, ours: dict[str, Any]) -> Verdict:
    """Refused, failing or matching, as recorded; by the rule, as a rule that upstream takes as well."""
    if isinstance(kind, Rule):
        bundle = make_bundle("b", properties=map(a_property, case["properties"]), add_package=False)
        twin = Matcher(upstream=True)
        matched = twin.check(CelConstraint(with_any_values(case["rule"])))(bundle)
        right: dict[str, Any] = {"matches": matched, "failed": bool(twin.failures)}
    elif case["expect"].get("compileError"):
        right = {"refused": True}
    else:
        right = {"matches": bool(case["expect"]["matches"]), "failed": bool(case["expect"].get("evalError"))}
    return Verdict(tuple(differing(right, ours)))


OWN_CEL = Suite(
    cases=olm_cases,
    name=lambda case: f"{case['id']} (muster)",
    classify=_classify_own_cel,
    running=by(_own_cel),
    judge=_judge_own_cel,
    shape=OLM_SHAPE,
)
