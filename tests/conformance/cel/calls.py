"""Which functions an expression calls, read off its words alone: classification must not depend on our own parser."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"(?P<text>[rRbB]{0,2}(?:'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\"|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"))"
    r"|(?P<comment>//[^\n]*)|(?P<name>`[^`]*`|[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>[()\[\]{},.])|(?P<space>\s+)"
    r"|(?P<number>[0-9][0-9A-Za-z_]*)|(?P<other>.)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Call:
    """`target.name(arguments)`, or without a target. Arguments are as they are written."""

    name: str
    member: bool
    arguments: tuple[str, ...]


@dataclass
class _Open:
    name: str
    member: bool
    begin: int
    commas: list[int] = field(default_factory=list)


def calls(expression: str) -> list[Call]:
    """Every call with parentheses, in the order in which they end."""
    found: list[Call] = []
    stack: list[_Open] = []
    before: list[str] = ["", ""]  # the two tokens before this one
    for token in _TOKEN.finditer(expression):
        if token.lastgroup in ("space", "comment"):
            continue
        text = token.group()
        if text in ("(", "[", "{") and token.lastgroup == "sign":
            is_call = text == "(" and re.fullmatch(r"[A-Za-z_]\w*", before[-1]) is not None and before[-1] != "in"
            stack.append(_Open(before[-1] if is_call else "", before[-2] == ".", token.end()))
        elif text == "," and stack:
            stack[-1].commas.append(token.start())
        elif text in (")", "]", "}") and token.lastgroup == "sign" and stack:
            opened = stack.pop()
            if opened.name:
                ends = [*opened.commas, token.start()]
                starts = [opened.begin, *(at + 1 for at in opened.commas)]
                parts = [expression[start:end].strip() for start, end in zip(starts, ends, strict=True)]
                found.append(Call(opened.name, opened.member, () if parts == [""] else tuple(parts)))
        before = [before[-1], text if token.lastgroup in ("name", "sign") else ""]
    return found


def words(expression: str) -> list[str]:
    """The names in an expression, those inside texts and comments left out; dotted names are joined."""
    found: list[str] = []
    last = ""
    for token in _TOKEN.finditer(expression):
        if token.lastgroup in ("space", "comment"):
            continue
        text = token.group()
        if token.lastgroup == "name":
            if last == "." and found:
                found[-1] = f"{found[-1]}.{text}"
            else:
                found.append(text)
        elif text != "." or last == ".":
            found.append("")
        last = text
    return [each for each in found if each]


def map_keys(expression: str) -> list[list[str]]:
    """The keys of every map literal, as they are written."""
    found: list[list[str]] = []
    stack: list[tuple[bool, list[str], int]] = []  # a map or not, its keys, where the present entry begins
    before = ""
    for token in _TOKEN.finditer(expression):
        if token.lastgroup in ("space", "comment"):
            continue
        text = token.group()
        is_sign = token.lastgroup == "sign"
        if is_sign and text in ("(", "[", "{"):
            is_map = text == "{" and not re.fullmatch(r"[A-Za-z_]\w*|`[^`]*`", before)
            stack.append((is_map, [], token.end()))
        elif is_sign and text in (")", "]", "}") and stack:
            is_map, keys, _ = stack.pop()
            if is_map:
                found.append(keys)
        elif text == "," and stack:
            stack[-1] = (stack[-1][0], stack[-1][1], token.end())
        elif text == ":" and stack and stack[-1][0] and stack[-1][2] >= 0:
            is_map, keys, begin = stack[-1]
            keys.append(expression[begin : token.start()].strip())
            stack[-1] = (is_map, keys, -1)
        before = text if token.lastgroup in ("name", "sign") else ""
    return found
