"""A resolution, and the text of a constraint, in OLM and in our reading of it; and what differs.

OLM takes its input in random order: one resolution can have several answers there, all of which count. It is run again
before an answer of ours is called another one.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, Final

from muster.resolution.catalog.bundles import Entry
from muster.resolution.catalog.properties import Property, text_fields
from muster.resolution.constraints.forms import InvalidConstraintError, Requirement, shipped_form
from muster.resolution.constraints.upstream_spelling import parse_upstream
from muster.resolution.request import Dialect
from muster.resolution.resolve import Impossible, Refused, Resolved, resolve
from muster.resolution.solving.clauses import Clause, Kind
from muster.resolution.solving.reasons import Deprecated, Needs, OnePackage, OneProvider, Wanted
from muster.resolution.telling.upstream_words import clause_text
from tests.conformance.olm.requests import UNREADABLE, a_request, shown
from tests.differential.lockstep import Outcome, answer_of
from tests.differential.olm.constraints import PACKAGES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.resolution.resolve import Outcome as Resolution
    from muster.resolution.solving.problem import Problem
    from tests.differential.lockstep import Asking

SOUND: Final = "an answer breaks no constraint"
FIRST: Final = "the first preference that fits is taken"
ORDER: Final = "the order in which a catalog lists its entries does not count"
MINIMAL: Final = "a conflict is minimal"
_IDENTITY: Final = {"olm.gvk": ("group", "version", "kind"), "olm.package": ("packageName",)}
LISTING: Final = "failed to list bundles: "  # upstream says it before what the registry says
RUNS: Final = 4
MORE_RUNS: Final = 60


# --- Resolutions ----------------------------------------------------------------------------------------------------


def resolved(row: dict[str, Any]) -> Asking:
    """Yields questions for the peer, takes its answers."""
    outcome = Outcome()
    ours = resolve(a_request(row, Dialect.OLM_V0))
    theirs = answer_of((yield question(row, RUNS)))["outcomes"]
    if not _among(ours, theirs):
        theirs += answer_of((yield question(row, MORE_RUNS)))["outcomes"]
    if not _among(ours, theirs):
        _judge(ours, theirs, outcome)
    elif isinstance(ours, Impossible) and not _said(ours, theirs):
        theirs += answer_of((yield question(row, MORE_RUNS)))["outcomes"]
        for alone in _alone(row, ours):
            theirs += answer_of((yield question(alone, RUNS)))["outcomes"]
        _judge_words(ours, theirs, outcome)
    if isinstance(ours, Resolved | Impossible) and not outcome.differences and _read_alike(row):
        _same_in_our_dialect(row, ours, outcome)
    return outcome


def question(row: dict[str, Any], runs: int) -> dict[str, Any]:
    catalogs = []
    for catalog in row["catalogs"]:
        defaults = {each["package"]: each["channel"] for each in catalog["bundles"] if each["inDefaultChannel"]}
        bundles = [_with_texts(each) for each in catalog["bundles"]]
        error = catalog.get("error", "").removeprefix(LISTING)
        catalogs.append(catalog | {"bundles": bundles, "defaults": defaults, "error": error})
    asked = row | {"catalogs": catalogs, "installed": [_with_texts(each) for each in row["installed"]]}
    return {"resolve": asked, "runs": runs}


def _with_texts(bundle: dict[str, Any]) -> dict[str, Any]:
    fields = {name: bundle[name] for name in ("properties", "dependencies") if name in bundle}
    return bundle | {
        name: [{"type": each["type"], "value": text_of(each["value"])} for each in given]
        for name, given in fields.items()
    }


def text_of(value: Any) -> str:
    if isinstance(value, str) and value.startswith(UNREADABLE):
        return value.removeprefix(UNREADABLE)
    return json.dumps(value)


def _their(outcome: dict[str, Any]) -> list[str] | str:
    if outcome.get("kind"):
        return str(outcome["kind"])
    return sorted(
        f"{each['name']} {each['channel']} {each['catalog']} {each['replaces']}".rstrip()
        for each in outcome.get("installed") or ()
    )


def _among(ours: Resolution, theirs: list[dict[str, Any]]) -> bool:
    if isinstance(ours, Refused):
        return ours.text in {each.get("text") for each in theirs if each.get("kind") == "InputError"}
    return shown(ours) in [_their(each) for each in theirs]


def _judge(ours: Resolution, theirs: list[dict[str, Any]], outcome: Outcome) -> None:
    """No run of theirs gave our answer: by a rule about their answers, or not rightly."""
    answers = {json.dumps(_their(each)) for each in theirs}
    texts = sorted({each["text"] for each in theirs if each.get("text")})
    if isinstance(ours, Refused) or any(each.get("kind") == "InputError" for each in theirs):
        said = ours.text if isinstance(ours, Refused) else shown(ours)
        if isinstance(said, str) and _in_any_order(said) in map(_in_any_order, texts):
            outcome.rules.add(ORDER)
        else:
            outcome.differences.append(f"error: {said} instead of {texts or sorted(answers)}")
        return
    if isinstance(ours, Resolved) and not any(each.get("kind") for each in theirs):
        sound = [each for each in theirs if _is_sound(ours.problem, each)]
        if not sound:
            outcome.rules.add(SOUND)
            return
        if all(_is_better(ours, each) for each in sound):
            outcome.rules.add(FIRST)
            return
    outcome.differences.append(f"outcome: {shown(ours)} instead of {' or '.join(sorted(answers))}")


def _in_any_order(text: str) -> list[str]:
    """Several errors, and several chains of a channel, are told in the order in which they are met. A channel that two
    packages share has the name of whichever comes first."""
    several = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    words = several.replace(" of package ", ", ").replace('": ', '", ')
    return sorted(set(words.split(", ")) - {f'"{name}"' for name in PACKAGES})


def _is_sound(problem: Problem, theirs: dict[str, Any]) -> bool:
    """Whether what they install meets every clause, with whatever stays of what is installed."""
    return bool(_completed(problem, theirs))


def _completed(problem: Problem, theirs: dict[str, Any]) -> list[set[int]]:
    """Their answer with every part of what is installed that makes it meet all clauses."""
    names = {each: number for number, each in enumerate(problem.identifiers())}
    chosen = {names[f"{each['catalog']}/{each['channel']}/{each['name']}"] for each in theirs.get("installed") or ()}
    wants = {number for number, each in enumerate(problem.variables) if not isinstance(each, Entry)}
    existing = [number for number, each in enumerate(problem.variables) if isinstance(each, Entry) and each.installed]
    kept: Iterable[tuple[int, ...]] = chain.from_iterable(
        combinations(existing, count) for count in range(len(existing) + 1)
    )
    return [
        whole for part in kept if all(_holds(clause, whole := chosen | wants | set(part)) for clause in problem.clauses)
    ]


def _holds(clause: Clause, chosen: set[int]) -> bool:
    match clause.kind:
        case Kind.MANDATORY:
            return clause.subject in chosen
        case Kind.PROHIBITED:
            return clause.subject not in chosen
        case Kind.DEPENDENCY:
            return clause.subject not in chosen or not chosen.isdisjoint(clause.others)
        case Kind.CONFLICT:
            return clause.subject not in chosen or chosen.isdisjoint(clause.others)
        case Kind.AT_MOST:
            return len(chosen.intersection(clause.others)) <= clause.most
        case _:
            return True


def _is_better(ours: Resolved, theirs: dict[str, Any]) -> bool:
    """Breadth-first, the first choice in which the two differ is one where we have the earlier preference."""
    choices: dict[int, list[Clause]] = {}
    for clause in ours.problem.clauses:
        if clause.kind is Kind.DEPENDENCY:
            choices.setdefault(clause.subject, []).append(clause)
    mine = set(ours.solution.chosen)
    for other in _completed(ours.problem, theirs):
        waiting = [clause.subject for clause in ours.problem.clauses if clause.kind is Kind.MANDATORY]
        seen: set[int] = set()
        verdict = None
        while waiting and verdict is None:
            subject = waiting.pop(0)
            if subject in seen:
                continue
            seen.add(subject)
            for clause in choices.get(subject, ()):
                first, second = (next(n for n in clause.others if n in chosen) for chosen in (mine, other))
                if first != second:
                    verdict = clause.others.index(first) < clause.others.index(second)
                    break
                waiting.append(first)
        if verdict is False:
            return False
    return True


def _alone(row: dict[str, Any], ours: Impossible) -> list[dict[str, Any]]:
    """For each subscription, requirement and deprecation of our conflict a row with little else to tell of."""
    bundles = [*row["installed"], *(each for catalog in row["catalogs"] for each in catalog["bundles"])]
    rows = [_wanting(row, each.reason.want.name) for each in ours.conflict if isinstance(each.reason, Wanted)]
    for reason in (clause.reason for clause in ours.conflict):
        if isinstance(reason, Deprecated):
            rows.append(_only(reason.entry, "1.0.0", {"properties": [{"type": "olm.deprecated", "value": {}}]}))
        if not isinstance(reason, Needs):
            continue
        place = reason.requirement.origin.index
        for bundle in bundles:
            properties, dependencies = bundle["properties"], bundle.get("dependencies", [])
            if bundle["name"] == reason.entry.name and place < len(properties) + len(dependencies):
                kept = _once([each for at, each in enumerate(properties) if at == place or not _requires(each)])
                needed = [each for at, each in enumerate(dependencies) if len(properties) + at == place]
                said = {"properties": kept, "dependencies": needed}
                rows.append(_only(reason.entry, bundle["version"], said))
    return rows


def _wanting(row: dict[str, Any], name: str) -> dict[str, Any]:
    """The row with one subscription, which nothing can meet because everything is deprecated."""

    def deprecated(bundle: dict[str, Any]) -> dict[str, Any]:
        said = _once([each for each in bundle["properties"] if not _requires(each)])
        return bundle | {"properties": [*said, {"type": "olm.deprecated", "value": {}}], "dependencies": []}

    return row | {
        "catalogs": [each | {"bundles": list(map(deprecated, each["bundles"]))} for each in row["catalogs"]],
        "subscriptions": [each for each in row["subscriptions"] if each["name"] == name],
        "installed": [deprecated(each) for each in row["installed"] if each.get("subscription") == name],
    }


def _once(properties: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without what is said twice, which is a conflict of its own."""
    kept: dict[Any, dict[str, Any]] = {}
    for each in properties:
        names = _IDENTITY.get(each["type"])
        kept[(each["type"], names and text_fields(each["value"], *names)) if names else id(each)] = each
    return list(kept.values())


def _only(entry: Entry, version: str, said: dict[str, Any]) -> dict[str, Any]:
    """A row of one bundle, where it was."""
    name, namespace = entry.catalog
    row: dict[str, Any] = {"namespaces": [namespace], "catalogs": [], "subscriptions": [], "installed": []}
    if entry.installed:
        return row | {"installed": [{"name": entry.name, "version": version, **said}]}
    plain = {"name": entry.name, "version": version, "package": "p", "channel": entry.channel}
    bundle = plain | {"inDefaultChannel": False} | said
    wanted = {"name": "s", "package": "p", "channel": entry.channel, "catalog": name, "catalogNamespace": namespace}
    catalog = {"name": name, "namespace": namespace, "bundles": [bundle]}
    return row | {"catalogs": [catalog], "subscriptions": [wanted]}


def _requires(prop: dict[str, Any]) -> bool:
    return bool(prop["type"] == "olm.constraint" or prop["type"].endswith(".required"))


def _said(ours: Impossible, theirs: list[dict[str, Any]]) -> bool:
    identifiers = ours.problem.identifiers()
    mine = {_canonical(clause_text(clause, identifiers)) for clause in ours.conflict}
    return mine in [{_canonical(each) for each in one.get("reasons") or ()} for one in theirs]


def _canonical(sentence: str) -> str:
    """The candidates of a subscription have a random order where a bundle is in several channels."""
    head, found, candidates = sentence.partition(" requires at least one of ")
    if not found or not head.startswith("subscription "):
        return sentence
    return f"{head}{found}{sorted(set(candidates.replace(' or ', ', ').split(', ')))}"


def _judge_words(ours: Impossible, theirs: list[dict[str, Any]], outcome: Outcome) -> None:
    """OLM's conflicts have more in them than is needed, and others each time; ours has sentences that occur there."""
    if _said(ours, theirs):
        return
    sentences = {_canonical(each) for one in theirs for each in one.get("reasons") or ()}
    identifiers = ours.problem.identifiers()
    # Who excludes whom cannot be asked for alone: it is compared wherever upstream tells of it.
    told = [clause for clause in ours.conflict if not isinstance(clause.reason, OnePackage | OneProvider)]
    missing = {_canonical(clause_text(clause, identifiers)) for clause in told} - sentences
    if missing:
        outcome.differences.append(f"words: {sorted(missing)} instead of one of {sorted(sentences)}")
    else:
        outcome.rules.add(MINIMAL)


def _read_alike(row: dict[str, Any]) -> bool:
    """Whether a question means the same in both dialects. One with a subscription without a catalog, with a bundle that
    says twice what it is, or with one that is skipped in one of its channels, does not."""
    bundles = [*row["installed"], *(each for catalog in row["catalogs"] for each in catalog["bundles"])]
    skipped = {name for bundle in bundles for name in bundle.get("skips", ())}
    names = Counter(each["name"] for each in bundles)
    return (
        all(each.get("catalog") for each in row["subscriptions"])
        and all(len(_once(each["properties"])) == len(each["properties"]) for each in bundles)
        and not any(names[name] > 1 for name in skipped)
    )


def _same_in_our_dialect(row: dict[str, Any], ours: Resolved | Impossible, outcome: Outcome) -> None:
    """Where OLM finds nothing to refuse, our own dialect answers the same, unless it reads more strictly."""
    own = resolve(a_request(row, Dialect.MUSTER))
    if isinstance(own, Resolved | Impossible) and own.problem.faults:
        outcome.rules.add("Constraints are read strictly")
        return
    if shown(own) != shown(ours):
        outcome.differences.append(f"dialects: {shown(own)} instead of {shown(ours)}")


# --- Constraints ----------------------------------------------------------------------------------------------------


def read(value: Any) -> Asking:
    """One value of olm.constraint: the same meaning, or the same error."""
    text = text_of(value)
    theirs = answer_of((yield {"constraint": text}))
    unreadable = isinstance(value, str) and value.startswith(UNREADABLE)
    prop = Property("olm.constraint", None, text) if unreadable else Property("olm.constraint", value)
    try:
        ours: Any = shipped_form(Requirement(parse_upstream(prop)))
    except InvalidConstraintError as error:
        ours = error.reason
    wanted: Any = (
        f"parse olm.constraint: {theirs['error']}" if theirs.get("error") else _first_kind(theirs["constraint"])
    )
    outcome = Outcome()
    if wanted is None:
        wanted = "convert olm.constraint to resolver predicate: constraint is empty"
    if _without_empty_messages(ours) != wanted:
        outcome.differences.append(f"constraint: {ours!r} instead of {wanted!r}")
    return outcome


def _without_empty_messages(value: Any) -> Any:
    """Go leaves out a message that is empty."""
    if isinstance(value, list):
        return [_without_empty_messages(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: item for key, item in value.items() if key != "failureMessage" or item}
    return {key: _without_empty_messages(item) for key, item in kept.items()}


def _first_kind(parsed: dict[str, Any]) -> dict[str, Any] | None:
    """What counts of a constraint with several kinds; None if it, or one in it, has none."""
    message = {"failureMessage": parsed["failureMessage"]} if parsed.get("failureMessage") else {}
    for kind in ("gvk", "package", "all", "any", "not", "cel"):
        if kind not in parsed:
            continue
        content = parsed[kind]
        if kind in ("all", "any", "not"):
            members = [_first_kind(each) for each in content["constraints"] or ()]
            if None in members:
                return None
            content = {"constraints": members}
        return message | {kind: content}
    return None
