"""As much of Helm's templates as the chart uses, so that its text can be compared without Helm: conditions, values, and
the few functions that stand in them. Whatever it does not know is an error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import yaml

from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

_ACTION: Final = re.compile(r"\{\{(-?)\s*(.*?)\s*(-?)\}\}", re.DOTALL)
_TOKEN: Final = re.compile(r'"[^"]*"|[()]|[^\s()]+')


def rendered(text: str, values: JsonObject, namespace: str, served: frozenset[str] = frozenset()) -> list[JsonObject]:
    """The objects of a template. `served` are kinds that the server has, as `.Capabilities.APIVersions` names them."""
    out = _Template(values, namespace, served).run(text)
    return [each for each in yaml.load_all(out, Loader=yaml.CSafeLoader) if each is not None]


class _Template:
    def __init__(self, values: JsonObject, namespace: str, served: frozenset[str]) -> None:
        self._data: JsonObject = {"Values": values, "Release": {"Namespace": namespace}}
        self._served = served

    def run(self, text: str) -> str:
        out, place = "", 0
        stack: list[tuple[bool, Json]] = [(True, self._data)]  # whether this is wanted, and what `.` is
        for action in _ACTION.finditer(text):
            before, words = text[place : action.start()], action[2]
            if stack[-1][0]:
                out += before
            if action[1]:
                out = out.rstrip() if stack[-1][0] else out
            place = action.end()
            wanted, dot = stack[-1]
            if words.startswith(("if ", "with ")):
                found = self._value(words.split(" ", 1)[1], dot) if wanted else None
                stack.append((wanted and bool(found), found if words.startswith("with ") else dot))
            elif words == "end":
                stack.pop()
            elif wanted:
                out += str(self._value(words, dot))
        assert len(stack) == 1, "an `if` without its `end`"
        return out + text[place:]

    def _value(self, words: str, dot: Json) -> Json:
        first, *functions = words.split(" | ")
        value = self._expression(iter(_TOKEN.findall(first)), dot)
        for each in functions:
            name, *arguments = each.split()
            if name == "quote":
                value = f'"{value}"'
            elif name == "nindent":
                indent = " " * int(arguments[0])
                value = "\n" + "\n".join(indent + line for line in str(value).splitlines())
            else:
                raise AssertionError(f"no function {name}")
        return value

    def _expression(self, tokens: Iterator[str], dot: Json) -> Json:
        parts = list(self._parts(tokens, dot))
        if len(parts) == 1:
            return parts[0]
        function, *arguments = parts
        match function:
            case "and":
                return all(arguments)
            case "or":
                return any(arguments)
            case "not":
                return not arguments[0]
            case "eq":
                return arguments[0] == arguments[1]
            case "toYaml":
                return yaml.safe_dump(arguments[0], sort_keys=False).rstrip()
            case "trimPrefix":
                return str(arguments[1]).removeprefix(str(arguments[0]))
            case "Has":
                return arguments[0] in self._served
        raise AssertionError(f"no function {function}")

    def _parts(self, tokens: Iterator[str], dot: Json) -> Iterator[Json]:
        for token in tokens:
            if token == ")":
                return
            if token == "(":
                yield self._expression(tokens, dot)
            elif token.startswith('"'):
                yield token[1:-1]
            elif token == ".":
                yield dot
            elif token == ".Capabilities.APIVersions.Has":
                yield "Has"
            elif token.startswith("."):
                found: Json = self._data
                for name in token[1:].split("."):
                    found = found[name]
                yield found
            else:
                yield token
