"""Label selectors: the string form of URLs (`env in (a,b),!gpu`) and the object form of specs, compiled to one thing.

Used by lists and watches, by Placement and cluster-set selectors, and by admission. Behaves as Kubernetes'
apimachinery does: requirements are sorted by key, values are sets, a missing label satisfies `!=` and `notin`.
It does not know what carries the labels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, assert_never

from muster.errors import MusterError
from muster.values.causes import MOST_FOUND, Cause, forbidden, invalid, not_supported, quoted, required, sentence
from muster.values.json import JsonMapping, JsonObject
from muster.values.messages import listed
from muster.values.names import is_plain_key, label_value_problems, qualified_name_problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


INT64_MIN: Final = -(2**63)
INT64_MAX: Final = 2**63 - 1
_SHOWN_VALUES: Final = 20


class InvalidSelectorError(MusterError):
    """A selector that cannot match anything because it is malformed. The text is the real server's."""


class Operator(Enum):
    """How a requirement relates a label to its values. The value is the spelling of the string grammar."""

    IN = "in"
    NOT_IN = "notin"
    EQUALS = "="
    DOUBLE_EQUALS = "=="
    NOT_EQUALS = "!="
    GREATER_THAN = "gt"
    LESS_THAN = "lt"
    EXISTS = "exists"
    DOES_NOT_EXIST = "!"


_SYMBOL: Final[Mapping[Operator, str]] = {
    Operator.IN: " in ",
    Operator.NOT_IN: " notin ",
    Operator.EQUALS: "=",
    Operator.DOUBLE_EQUALS: "==",
    Operator.NOT_EQUALS: "!=",
    Operator.GREATER_THAN: ">",
    Operator.LESS_THAN: "<",
}

# The operators of the object form, metav1.LabelSelector.
_OBJECT_OPERATORS: Final[Mapping[str, Operator]] = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
}
_OBJECT_SPELLING: Final[Mapping[Operator, str]] = {operator: name for name, operator in _OBJECT_OPERATORS.items()}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on one label. Make it with `requirement`, which checks it."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()
    # Further copies of values: they match nothing more, but they are shown.
    repeated: tuple[str, ...] = field(default=(), compare=False)

    def matches(self, labels: Mapping[str, str]) -> bool:
        match self.operator:
            case Operator.IN | Operator.EQUALS | Operator.DOUBLE_EQUALS:
                return labels.get(self.key) in self.values
            case Operator.NOT_IN | Operator.NOT_EQUALS:
                return labels.get(self.key) not in self.values
            case Operator.EXISTS:
                return self.key in labels
            case Operator.DOES_NOT_EXIST:
                return self.key not in labels
            case Operator.GREATER_THAN | Operator.LESS_THAN:
                return self._compares(labels.get(self.key))
            case _:
                assert_never(self.operator)

    def _compares(self, label: str | None) -> bool:
        actual = None if label is None else _int64(label)
        (text,) = self.values
        wanted = _int64(text)
        if actual is None or wanted is None:
            return False
        return actual > wanted if self.operator is Operator.GREATER_THAN else actual < wanted

    def brief(self) -> str:
        """For people: of thousands of values only the first ones."""
        return str(self) if len(self.values) <= _SHOWN_VALUES else _brief(self)

    def __str__(self) -> str:
        if self.operator is Operator.EXISTS:
            return self.key
        if self.operator is Operator.DOES_NOT_EXIST:
            return f"!{self.key}"
        values = ",".join(sorted((*self.values, *self.repeated)))
        if self.operator in {Operator.IN, Operator.NOT_IN}:
            values = f"({values})"
        return f"{self.key}{_SYMBOL[self.operator]}{values}"


@lru_cache(maxsize=1024)
def _brief(wanted: Requirement) -> str:
    return f"{wanted.key}{_SYMBOL[wanted.operator]}({listed(sorted(wanted.values), ',', _SHOWN_VALUES)})"


@dataclass(frozen=True, slots=True)
class Selector:
    """Requirements that must all hold. None of them: everything matches. `nothing`: nothing does."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    def matches(self, labels: Mapping[str, str]) -> bool:
        if self.nothing:
            return False
        return all(requirement.matches(labels) for requirement in self.requirements)

    @property
    def is_everything(self) -> bool:
        return not self.requirements and not self.nothing

    def __str__(self) -> str:
        return ",".join(str(requirement) for requirement in self.requirements)


EVERYTHING: Final = Selector()
NOTHING: Final = Selector(nothing=True)


def requirement(key: str, operator: str, values: Sequence[str] | None) -> Requirement:
    """A checked requirement. Raises InvalidSelectorError with everything that is wrong."""
    causes = [invalid("key", key, "; ".join(problems))] if (problems := qualified_name_problems(key)) else []
    count = len(values or ())
    shown = None if values is None else list(values)
    match operator:
        case "in" | "notin":
            if count == 0:
                causes.append(invalid("values", shown, "for 'in', 'notin' operators, values set can't be empty"))
        case "=" | "==" | "!=":
            if count != 1:
                causes.append(invalid("values", shown, "exact-match compatibility requires one single value"))
        case "exists" | "!":
            if count != 0:
                causes.append(invalid("values", shown, "values set must be empty for exists and does not exist"))
        case "gt" | "lt":
            if count != 1:
                causes.append(invalid("values", shown, "for 'Gt', 'Lt' operators, exactly one value is required"))
            causes.extend(
                invalid(f"values[{index}]", value, "for 'Gt', 'Lt' operators, the value must be an integer")
                for index, value in enumerate(values or ())
                if _int64(value) is None
            )
        case _:
            causes.append(not_supported("operator", operator, (known.value for known in Operator)))
    for index, value in enumerate(values or ()):
        if problems := label_value_problems(value):
            causes.append(invalid(f"values[{index}][{key}]", value, "; ".join(problems)))
    if causes:
        raise InvalidSelectorError(sentence(causes))
    different = frozenset(values or ())
    return Requirement(key, Operator(operator), different, _repeated(values or ()) if count > len(different) else ())


def _repeated(values: Sequence[str]) -> tuple[str, ...]:
    """Every copy of a value after its first."""
    return tuple((Counter(values) - Counter(set(values))).elements())


def selector(requirements: Sequence[Requirement]) -> Selector:
    """Requirements in the order every selector keeps them."""
    return Selector(tuple(sorted(requirements, key=lambda each: each.key)))


def parse_selector(text: str) -> Selector:
    """The string form. Raises InvalidSelectorError in the words of the real server."""
    return selector(_Parser(_tokens(text)).requirements())


def from_label_selector(spec: JsonMapping | None) -> Selector:
    """The object form: null selects nothing, `{}` everything. Raises InvalidSelectorError with the first mistake."""
    if spec is None:
        return NOTHING
    expressions = spec.get("matchExpressions") or ()
    return object_selector(
        spec.get("matchLabels") or {},
        ((each.get("key", ""), each.get("operator", ""), each.get("values") or ()) for each in expressions),
    )


def object_selector(labels: Mapping[str, str], expressions: Iterable[tuple[str, str, Sequence[str]]]) -> Selector:
    """From the parts of the object form: labels, and keys with operators and values. Raises InvalidSelectorError."""
    requirements = [requirement(key, "=", [value]) for key, value in labels.items()]
    for key, name, values in expressions:
        operator = _OBJECT_OPERATORS.get(name)
        if operator is None:
            raise InvalidSelectorError(f"{quoted(name)} is not a valid label selector operator")
        requirements.append(requirement(key, operator.value, values or None))
    return selector(requirements)


def to_label_selector(parsed: Selector) -> JsonObject:
    """The object form of a parsed string. Raises InvalidSelectorError where that form has no word for it."""
    match_labels: dict[str, str] = {}
    expressions: list[JsonObject] = []
    for each in parsed.requirements:
        if each.operator in {Operator.EQUALS, Operator.DOUBLE_EQUALS}:
            (match_labels[each.key],) = each.values
            continue
        spelling = _OBJECT_SPELLING.get(each.operator)
        if each.operator is Operator.NOT_EQUALS:
            raise InvalidSelectorError(f"{quoted(each.operator.value)} is not a valid label selector operator")
        if spelling is None:
            raise InvalidSelectorError(f"{quoted(each.operator.value)} isn't supported in label selectors")
        expression: JsonObject = {"key": each.key, "operator": spelling}
        if each.values:
            expression["values"] = sorted(each.values)
        expressions.append(expression)
    result: JsonObject = {}
    if match_labels:
        result["matchLabels"] = match_labels
    if expressions:
        result["matchExpressions"] = expressions
    return result


def label_selector_as_map(spec: JsonMapping | None) -> dict[str, str] | None:
    """The old form of selectors, key to value. Raises InvalidSelectorError where more than equality is asked."""
    if spec is None:
        return None
    result: dict[str, str] = dict(spec.get("matchLabels") or {})
    for expression in spec.get("matchExpressions") or ():
        operator = expression.get("operator", "")
        values: Sequence[str] = expression.get("values") or ()
        if operator not in _OBJECT_OPERATORS:
            raise InvalidSelectorError(f"{quoted(operator)} is not a valid selector operator")
        if operator != "In":
            raise InvalidSelectorError(
                f"operator {quoted(operator)} cannot be converted into the old label selector format"
            )
        if len(values) != 1:
            raise InvalidSelectorError(
                f"operator {quoted(operator)} without a single value cannot be converted "
                "into the old label selector format"
            )
        result[expression.get("key", "")] = values[0]
    return result


def format_label_selector(spec: JsonMapping | None) -> str:
    """For people: `<none>` when it says nothing, `<error>` when it is malformed."""
    try:
        return str(from_label_selector(spec)) or "<none>"
    except InvalidSelectorError:
        return "<error>"


def label_causes(labels: Mapping[str, str], path: str) -> list[Cause]:
    """What is wrong with a map of labels, at a field path. More than MOST_FOUND causes are not looked for."""
    causes: list[Cause] = []
    for key, value in labels.items():
        if len(causes) >= MOST_FOUND:
            break
        if not is_plain_key(key):
            causes.extend(invalid(path, key, problem) for problem in qualified_name_problems(key))
        if problems := label_value_problems(value):
            causes.extend(invalid(path, value, problem) for problem in problems)
    return causes


def label_selector_causes(spec: JsonMapping | None, path: str) -> list[Cause]:
    """Everything that is wrong with the object form, at a field path: the check of admission."""
    if spec is None:
        return []
    causes = label_causes(spec.get("matchLabels") or {}, f"{path}.matchLabels")
    for index, expression in enumerate(spec.get("matchExpressions") or ()):
        if len(causes) >= MOST_FOUND:
            break
        causes.extend(_expression_causes(expression, f"{path}.matchExpressions[{index}]"))
    return causes


def _expression_causes(expression: JsonMapping, path: str) -> list[Cause]:
    causes = []
    key, operator = expression.get("key", ""), expression.get("operator", "")
    values = expression.get("values") or ()
    match operator:
        case "In" | "NotIn":
            if not values:
                causes.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
        case "Exists" | "DoesNotExist":
            if values:
                detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                causes.append(forbidden(f"{path}.values", detail))
        case _:
            causes.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    causes.extend(invalid(f"{path}.key", key, problem) for problem in qualified_name_problems(key))
    for index, value in enumerate(values):
        if len(causes) >= MOST_FOUND:
            break
        causes.extend(invalid(f"{path}.values[{index}]", value, problem) for problem in label_value_problems(value))
    return causes


def _int64(text: str) -> int | None:
    """`[+-]? [0-9]+` within 64 bits; Python's int() would also take spaces, underscores and other scripts' digits."""
    digits = text[1:] if text[:1] in {"+", "-"} else text
    if not (digits.isascii() and digits.isdigit()) or len(digits.lstrip("0")) > 19:
        return None
    number = int(text)
    return number if INT64_MIN <= number <= INT64_MAX else None


# ----------------------------------------------------------------------------------------------------------------------
# The string grammar.

_SPECIAL: Final = frozenset("=!(),<>")
_SPACE: Final = frozenset(" \t\r\n")
_SPECIAL_TOKENS: Final = frozenset({")", ",", "!", "==", "=", ">", "<", "!=", "("})
_KEYWORDS: Final = frozenset({"in", "notin"})
_OPERATORS: Final[Mapping[str, str]] = {
    "in": "in",
    "notin": "notin",
    "=": "=",
    "==": "==",
    "!=": "!=",
    ">": "gt",
    "<": "lt",
}


@dataclass(frozen=True, slots=True)
class _Token:
    """A piece of the text. A word is an identifier wherever a value may stand, even `in` and `notin`."""

    text: str
    word: bool

    @property
    def is_end(self) -> bool:
        return not self.text and not self.word


_END: Final = _Token("", word=False)


def _tokens(text: str) -> list[_Token]:
    """Split a selector. A NUL ends the token it stands in, and the text when it stands between tokens."""
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        if text[at] in _SPACE:
            at += 1
            continue
        if text[at] == "\0":
            break
        start = at
        if text[at] in _SPECIAL:
            # The longest known symbol that starts here.
            at += 2 if text[at : at + 2] in _SPECIAL_TOKENS else 1
            tokens.append(_Token(text[start:at], word=False))
            continue
        while at < len(text) and text[at] != "\0" and text[at] not in _SPECIAL and text[at] not in _SPACE:
            at += 1
        tokens.append(_Token(text[start:at], word=True))
        if at < len(text) and text[at] == "\0":
            at += 1
    return tokens


class _Parser:
    """One method per rule; `InvalidSelectorError` at the first token that does not fit."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def requirements(self) -> list[Requirement]:
        """selector = [ requirement ("," requirement)* ]"""
        found: list[Requirement] = []
        first = self._peek()
        if first.is_end:
            return found
        if not _starts_requirement(first):
            raise InvalidSelectorError(f"found '{first.text}', expected: !, identifier, or 'end of string'")
        while True:
            try:
                found.append(self._requirement())
            except InvalidSelectorError as error:
                raise InvalidSelectorError(f"unable to parse requirement: {error}") from None
            token = self._next()
            if token.is_end:
                return found
            if token.text != "," or token.word:
                raise InvalidSelectorError(f"found '{token.text}', expected: ',' or 'end of string'")
            following = self._peek()
            if not _starts_requirement(following):
                raise InvalidSelectorError(f"found '{following.text}', expected: identifier after ','")

    def _requirement(self) -> Requirement:
        """requirement = "!" key | key | key ("in" | "notin") values | key ("=" | "==" | "!=" | ">" | "<") value"""
        token = self._next()
        negated = token == _Token("!", word=False)
        if negated:
            token = self._next()
        if not token.word:
            raise InvalidSelectorError(f"found '{token.text}', expected: identifier")
        if problems := qualified_name_problems(token.text):
            # The real server checks the key here without a field path, and prints the missing path.
            raise InvalidSelectorError(str(invalid("<nil>", token.text, "; ".join(problems))))
        if negated:
            return requirement(token.text, "!", [])
        if self._peek().is_end or self._peek() == _Token(",", word=False):
            return requirement(token.text, "exists", [])
        operator = self._operator()
        values = self._values() if operator in _KEYWORDS else self._value()
        return requirement(token.text, operator, sorted(values))

    def _operator(self) -> str:
        token = self._next()
        name = _OPERATORS.get(token.text)
        if name is None:
            raise InvalidSelectorError(f"found '{token.text}', expected: in, notin, =, ==, !=, gt, lt")
        return name

    def _values(self) -> set[str]:
        """values = "(" [ word ] ("," [ word ])* ")"; what is left out is the empty string"""
        token = self._next()
        if token != _Token("(", word=False):
            raise InvalidSelectorError(f"found '{token.text}' expected: '('")
        first = self._peek()
        if first == _Token(")", word=False):
            self._next()
            return {""}
        if not first.word and first.text != ",":
            raise InvalidSelectorError(f"found '{first.text}', expected: ',', ')' or identifier")
        values = self._listed()
        self._next()
        return values

    def _listed(self) -> set[str]:
        """The values up to the closing parenthesis, which is left to the caller."""
        values: set[str] = set()
        while True:
            token = self._next()
            if token.word:
                values.add(token.text)
                following = self._peek()
                if following == _Token(")", word=False):
                    return values
                if following != _Token(",", word=False):
                    raise InvalidSelectorError(f"found '{following.text}', expected: ',' or ')'")
            elif token.text == ",":
                if not values:
                    values.add("")
                following = self._peek()
                if following == _Token(")", word=False):
                    return values | {""}
                if following == _Token(",", word=False):
                    values.add("")
            else:
                raise InvalidSelectorError(f"found '{token.text}', expected: ',', or identifier")

    def _value(self) -> set[str]:
        """value = [ word ]"""
        following = self._peek()
        if following.is_end or following == _Token(",", word=False):
            return {""}
        token = self._next()
        if not token.word:
            raise InvalidSelectorError(f"found '{token.text}', expected: identifier")
        return {token.text}

    def _peek(self) -> _Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else _END

    def _next(self) -> _Token:
        token = self._peek()
        self._at += 1
        return token


def _starts_requirement(token: _Token) -> bool:
    return token.word or token.text == "!"
