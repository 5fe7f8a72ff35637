"""jq's own suite: a case falls under a rule when it is one of the things that gojq, and so our engine, does otherwise.

Which rule it is is read off the query and off what jq expects. What is wanted then is stated as far as the case lets
one say it: the error, the outputs, or, of a sentence in jq's words, a sentence in gojq's in its place.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muster.jq import InvalidJsonError, from_json
from tests.conformance.jq_gojq import Outcome, alike, leaves, outcome, outside, same
from tests.conformance.suites import PLAIN, Kind, Rule, Suite, Verdict, by, keys

if TYPE_CHECKING:
    from collections.abc import Callable

Case = dict[str, Any]
LARGE = 1 << 53
TOO_DEEP = "a value is nested too deeply to be walked (budget: depth)"

# How jq words its errors, and how gojq does.
_JQ_SENTENCE = re.compile(
    r"^(?:Cannot |Invalid |Out of bounds |Array index |Paths must |Repeat string |flatten depth must )"
    r"|cannot be (?:parsed|negated|divided|added|subtracted|multiplied|searched|sorted|matched|iterated|grouped|used)"
    r"|requires (?:parsed|a string|an array)|only strings have |doesn't support negative indices"
    r"|is not valid base64|trailing base64|is not a string$|has no keys|must be "
)
_GOJQ_SENTENCE = re.compile(
    r"(?:cannot (?:iterate over|negate|divide|add|subtract|multiply|modulo|delete|index)\b.*"
    r"|expected an? (?:object|array|string|number)\b.* but got: .*|invalid path .*|invalid regular expression .*"
    r"|.* cannot be applied to\b.*|nth doesn't support negative index|flatten depth should not be negative: .*"
    r"|repeat string result too large: .*|array index .*|object key .*|format not defined: .*|unsupported .*)",
    re.DOTALL,
)
_DEPTHS = ("Path too deep", "Object merge too deep", "Equality check too deep", "Comparison too deep", "too deep>")
_LACKING = re.compile(
    r"(?<![.\w$])(have_decnum|have_literal_numbers|get_search_list|get_jq_origin|get_prog_origin|_strindices|lgamma_r"
    r"|keys_unsorted)\b|(@base32d?)\b(?!\w)"
)
_MATCHING = re.compile(r"\b(?:match|test|capture|scan|splits?|sub|gsub|ascii)\(")


@dataclass(frozen=True)
class Difference:
    """A way in which gojq, and we with it, differ from jq: which cases, and what is wrong with an outcome."""

    name: str
    applies: Callable[[Case], bool]
    faults: Callable[[Case, Outcome], list[str]]


def expected(case: Case) -> list[Any]:
    """jq's outputs, as far as they are JSON."""
    return [from_json(text) for text in case["outputs"]]


def _texts(case: Case) -> list[str]:
    try:
        return [leaf for leaf in leaves(expected(case)) if isinstance(leaf, str)]
    except InvalidJsonError:
        return []


def _fails_with(got: Outcome, pattern: str) -> list[str]:
    """No outputs, and this error."""
    if got.outputs or re.fullmatch(pattern, got.error or "", re.DOTALL) is None:
        return [f"got {got} instead of the error {pattern}"]
    return []


def _gives(got: Outcome, outputs: list[Any], excused: Callable[[Any, Any], bool] = lambda _, __: False) -> list[str]:
    if got.error is not None or not alike(got.outputs, outputs, excused):
        return [f"got {got} instead of {outputs}"]
    return []


# --- Inputs


def _is_strict_json(text: str) -> bool:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def _unreadable(case: Case, got: Outcome) -> list[str]:
    return [] if got.unreadable and not got.outputs else [f"got {got} instead of an input that cannot be read"]


# --- Depth


def _is_deep(case: Case) -> bool:
    return any(text in _DEPTHS for text in _texts(case)) or "too deep>" in case["query"]


def _deep(case: Case, got: Outcome) -> list[str]:
    """Paths and encoded texts are as deep as they are; what compares or merges ends with the budget."""
    if "Path too deep" in _texts(case):
        return _gives(got, [None])
    if "too deep>" in case["query"]:
        return _gives(got, [False])
    return [] if got == Outcome([], TOO_DEEP, exhausted=True) else [f"got {got} instead of {TOO_DEEP!r}"]


# --- Numbers


def _has_large_integers(case: Case) -> bool:
    numbers = re.findall(r"(?<![\w.])[0-9]{16,}(?![\w.])", " ".join([case["query"], *case["inputs"]]))
    return any(int(number) != int(float(number)) for number in numbers)


def _exact(case: Case, got: Outcome) -> list[str]:
    """Where jq has a rounded number, ours is exact; numbers that are exact are equal to themselves."""

    def excused(ours: Any, theirs: Any) -> bool:
        if isinstance(ours, bool) or isinstance(theirs, bool):
            return ours is True
        try:
            exact, rounded = int(ours), float(theirs)
        except (TypeError, ValueError):
            return False
        return abs(exact) >= LARGE and float(exact) == rounded

    return _gives(got, expected(case), excused)


def _indexes_by_nan(case: Case) -> bool:
    return re.search(r"\[[^\]]*\bnan\b[^\]]*\]", case["query"]) is not None and not _has_sentence(case)


def _least_index(case: Case, got: Outcome) -> list[str]:
    """As a beginning it is the first place, as an end it leaves nothing; read alone it finds nothing."""
    if re.search(r"\[[^\]:]*:\s*nan\s*\]", case["query"]):
        return _gives(got, [[] if isinstance(each, list) else "" for each in expected(case)])
    return _gives(got, expected(case))


# --- Texts


def _has_sentence(case: Case) -> bool:
    return any(_JQ_SENTENCE.search(text) for text in _texts(case))


def _sentences(case: Case, got: Outcome) -> list[str]:
    """Where jq has a sentence, ours is one of gojq's; everything else is the same."""

    def excused(ours: Any, theirs: Any) -> bool:
        return (
            isinstance(theirs, str)
            and _JQ_SENTENCE.search(theirs) is not None
            and isinstance(ours, str)
            and _GOJQ_SENTENCE.fullmatch(ours) is not None
        )

    return _gives(got, expected(case), excused)


_STRING_INDEX = re.compile(r"Cannot index string with number \((-?[0-9.]+)\)")


def _indexes_a_string(case: Case) -> bool:
    return any(_STRING_INDEX.fullmatch(text) for text in _texts(case))


def _letters(case: Case, got: Outcome) -> list[str]:
    """The letter at that place of a text in the query or the input, or null where there is none."""
    literals = re.findall(r'"((?:\\.|[^"\\])*)"', case["query"])
    texts = [*literals, *(value for text in case["inputs"] if isinstance(value := from_json(text), str))]

    def excused(ours: Any, theirs: Any) -> bool:
        found = _STRING_INDEX.fullmatch(theirs) if isinstance(theirs, str) else None
        if found is None:
            return False
        place = math.floor(float(found[1]))
        return any(ours == (each[place] if -len(each) <= place < len(each) else None) for each in texts)

    return _gives(got, expected(case), excused)


# --- Names


def _lacks(case: Case, got: Outcome) -> list[str]:
    name = next(one or two for one, two in _LACKING.findall(case["query"]))
    return _fails_with(got, rf"(?:function|format) not defined: {re.escape(name)}(?:/\d)?")


# --- Patterns of values


def _alternatives_all_fail(case: Case) -> bool:
    """Alternatives that are all the same fail all together, or none does."""
    for chain in re.findall(
        r"((?:\{[^{}]*\}|\[[^\[\]]*\]|\$\w+)(?:\s*\?//\s*(?:\{[^{}]*\}|\[[^\[\]]*\]|\$\w+))+)", case["query"]
    ):
        if len({each.strip() for each in chain.split("?//")}) == 1 and not case["outputs"] and case["error"] is None:
            return True
    return False


# --- Regular expressions


def _look_around(case: Case) -> bool:
    return _MATCHING.search(case["query"]) is not None and re.search(r"\(\?(?:[=!]|<[=!])", case["query"]) is not None


def _flags(case: Case) -> list[str]:
    """Flags in a second argument that gojq does not know."""
    found = re.findall(r"\b(?:match|test|capture|scan)\(\s*\"(?:\\.|[^\"\\])*\"\s*;\s*\"([a-z]+)\"", case["query"])
    return [each for each in found if set(each) - set("gimnx") or "x" in each or "n" in each]


def _array_argument(case: Case) -> bool:
    return re.search(r"\b(?:match|test|capture|scan)\(\s*\[", case["query"]) is not None


def _boundary(case: Case) -> bool:
    """A word boundary in a pattern, and letters that are not ASCII."""
    return r"\\b" in case["query"] and any(not text.isascii() or "\\u" in text for text in case["inputs"])


def _empty_matches(case: Case) -> bool:
    """A substitution of all matches of a pattern that can be empty, and does match something before."""
    found = re.search(r"\bgsub\(\s*\"((?:\\.|[^\"\\])*)\"", case["query"])
    return found is not None and found[1].endswith(("*)", "*", "?")) and not found[1].startswith("^")


def _is_of_re2(case: Case) -> bool:
    return (
        bool(_look_around(case) or _flags(case) or _array_argument(case) or _boundary(case) or _empty_matches(case))
        and _MATCHING.search(case["query"]) is not None
    )


def _of_re2(case: Case, got: Outcome) -> list[str]:
    if _look_around(case):
        return _fails_with(got, r"invalid regular expression .*")
    if flags := _flags(case):
        return _fails_with(got, rf'unsupported regular expression flag: "{flags[0]}"')
    if _array_argument(case):
        return _fails_with(got, r"(?:match|test|capture|scan)\(.*\) cannot be applied to: .*")
    if _boundary(case):
        return _gives(got, _ascii_matches(case) or expected(case))
    # The last match of jq's is the empty one behind the end of the match before it, which Go's engine does not make.
    shorter = [re.sub(r"(?<=.)Z$", "", each) if isinstance(each, str) else each for each in expected(case)]
    return [] if not _gives(got, shorter) or not _gives(got, expected(case)) else _gives(got, shorter)


def _ascii_matches(case: Case) -> list[Any] | None:
    """What `[match("…")]` gives when letters that are not ASCII are no letters."""
    found = re.fullmatch(r'\[match\("((?:\\.|[^"\\])*)"\)\]', case["query"].strip())
    if found is None:
        return None
    pattern = re.compile(json.loads(f'"{found[1]}"'), re.ASCII)
    return [
        [
            {"offset": each.start(), "length": len(each.group()), "string": each.group(), "captures": []}
            for each in [*pattern.finditer(from_json(text))][:1]
        ]
        for text in case["inputs"]
    ]


# --- Folds


_EMPTIED = re.compile(r"\s*reduce\b[^;]*\(\s*([^();]+?)\s*;\s*empty\s*\)\s*", re.DOTALL)


def _empties_a_fold(case: Case) -> bool:
    """A query that is a fold from a value that is written down, and every update of it is empty."""
    found = _EMPTIED.fullmatch(case["query"])
    return found is not None and _is_strict_json(found[1])


def _keeps_its_state(case: Case, got: Outcome) -> list[str]:
    """The state that it began with, for every input."""
    found = _EMPTIED.fullmatch(case["query"])
    return _gives(got, [from_json(found[1]) if found else None for _ in case["inputs"]])


DIFFERENCES: tuple[Difference, ...] = (
    Difference("jq input is plain JSON", lambda case: not all(map(_is_strict_json, case["inputs"])), _unreadable),
    Difference("jq builtins that gojq lacks", lambda case: _LACKING.search(case["query"]) is not None, _lacks),
    Difference("jq values have no depth limit but the budget", _is_deep, _deep),
    Difference("jq strings can be indexed", _indexes_a_string, _letters),
    Difference("jq error texts are gojq's", _has_sentence, _sentences),
    Difference("jq integers are exact", _has_large_integers, _exact),
    Difference("jq not-a-number is the smallest index", _indexes_by_nan, _least_index),
    Difference(
        "jq patterns end with the last one's error",
        _alternatives_all_fail,
        lambda _, got: _fails_with(got, _GOJQ_SENTENCE.pattern),
    ),
    Difference("jq regular expressions are RE2's", _is_of_re2, _of_re2),
    Difference("jq folds keep their state when an update is empty", _empties_a_fold, _keeps_its_state),
)


def classify(case: Case) -> Kind:
    if (apart := outside(case)) is not None:
        return apart
    if case["error"] is not None:
        return PLAIN
    found = next((each for each in DIFFERENCES if each.applies(case)), None)
    return PLAIN if found is None else Rule(found.name)


def run(case: Case) -> Outcome:
    return outcome(case["query"], case["inputs"])


def judge(case: Case, kind: Kind, got: Outcome) -> Verdict:
    if isinstance(kind, Rule):
        rule = next(each for each in DIFFERENCES if each.name == kind.name)
        return Verdict(tuple(f"{case['query']!r}: {text}" for text in rule.faults(case, got)))
    is_right = same(got.outputs, expected(case)) and (got.error is None) == (case["error"] is None)
    said = f"{case['query']!r} on {case['inputs']}: {got} instead of {case['outputs']}, {case['error']!r}"
    return Verdict(() if is_right else (said,))


JQ = Suite(
    cases=list,
    name=lambda case: f"{case['suite']}:{case['line']}",
    classify=classify,
    running=by(run),
    judge=judge,
    shape=keys("suite line query inputs outputs error errorStage tags note"),
)
