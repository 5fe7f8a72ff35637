"""Comparing a recorded answer with ours: what varies between two runs is masked, the rest must be the same.

`Identities` carries what the recording server gave out (UIDs, revisions, generated names, continue tokens) over to
ours, so that later requests of the recording can be replayed.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any

CUT = "...<cut>"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_AGE = re.compile(r"(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?")
_MASKS = (
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uid>"),
    (re.compile(r"\bgen-[a-z0-9]{5}\b"), "gen-<random>"),
    (re.compile(r"current: \d+"), "current: <revision>"),
    (re.compile(r"too old resource version: (\d+) \(\d+\)"), r"too old resource version: \1 (<revision>)"),
    (re.compile(r"in record \(\d+\)"), "in record (<revision>)"),
    (re.compile(r"hash=[0-9A-F]+"), "hash=<hash>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<address>"),
    (_TIME, "<time>"),
)


class Cut:
    """The recording stops here; whatever follows is unknown."""


class Beginning(str):
    """The beginning of a text."""

    __slots__ = ()


def _manager(entry: dict[str, Any]) -> tuple[str, str, str]:
    return (entry.get("manager", ""), entry.get("operation", ""), entry.get("subresource", ""))


def masked(value: Any, key: str = "") -> Any:
    """A value with everything masked that differs between two runs of the same server."""
    if isinstance(value, dict):
        return {name: masked(item, name) for name, item in value.items()}
    if isinstance(value, list):
        found = [masked(item, key) for item in value]
        # Entries are ordered by their time, in seconds; within another second the order is another.
        whole = key == "managedFields" and all(isinstance(item, dict) and Cut not in item for item in found)
        return sorted(found, key=_manager) if whole else found
    if isinstance(value, Beginning):
        return Cut  # half a time stamp cannot be told from a text
    if not isinstance(value, str):
        return value
    if key in ("uid", "resourceVersion", "continue") and value not in ("", "0"):
        return f"<{key}>"
    if key == "cells" and value and _AGE.fullmatch(value):
        return "<age>"
    for pattern, mask in _MASKS:
        value = pattern.sub(mask, value)
    return value


def parse_cut(text: str) -> Any:
    """The value of a JSON text whose end the recording left out. Unfinished lists and objects end with `Cut`."""
    return _Partial(text.removesuffix(CUT)).value()


class _Partial:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def value(self) -> Any:
        self._space()
        if self._at >= len(self._text):
            return Cut
        first = self._text[self._at]
        if first == "{":
            return self._object()
        if first == "[":
            return self._array()
        if first == '"':
            return self._string()
        found = re.compile(r"[-+.0-9eE]+|true|false|null").match(self._text, self._at)
        if found is None or found.end() == len(self._text):
            return Cut
        self._at = found.end()
        return json.loads(found.group())

    def _space(self) -> None:
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1

    def _string(self) -> Any:
        found = re.compile(r'"(?:[^"\\]|\\.)*"').match(self._text, self._at)
        if found is None:
            rest = re.sub(r"\\.?[^\\]{0,4}$", "", self._text[self._at + 1 :])
            self._at = len(self._text)
            return Beginning(json.loads(f'"{rest}"'))
        self._at = found.end()
        return json.loads(found.group())

    def _object(self) -> Any:
        self._at += 1
        found: dict[Any, Any] = {}
        while True:
            self._space()
            if self._text[self._at : self._at + 1] == "}":
                self._at += 1
                return found
            if self._text[self._at : self._at + 1] == ",":
                self._at += 1
                self._space()
            if self._at >= len(self._text):
                return found | {Cut: Cut}
            key = self._string()
            self._space()
            if isinstance(key, Beginning) or self._at >= len(self._text):
                return found | {Cut: Cut}
            self._at += 1  # the colon
            value = self.value()
            if value is Cut:
                return found | {Cut: Cut}
            found[key] = value

    def _array(self) -> Any:
        self._at += 1
        found: list[Any] = []
        while True:
            self._space()
            if self._text[self._at : self._at + 1] == "]":
                self._at += 1
                return found
            if self._text[self._at : self._at + 1] == ",":
                self._at += 1
            value = self.value()
            found.append(value)
            if value is Cut:
                return found


def difference(recorded: Any, ours: Any, path: str = "") -> str:
    """Where two values differ first; empty when they agree as far as the recording goes."""
    if recorded is Cut:
        return ""
    if isinstance(recorded, dict) and isinstance(ours, dict):
        for key, item in recorded.items():
            if key is Cut:
                return ""
            if key not in ours:
                return f"{path}.{key}: recorded {_short(item)}, ours missing"
            found = difference(item, ours[key], f"{path}.{key}")
            if found:
                return found
        more = [key for key in ours if key not in recorded]
        return f"{path}.{more[0]}: not recorded, ours {_short(ours[more[0]])}" if more else ""
    if isinstance(recorded, list) and isinstance(ours, list):
        for index, item in enumerate(recorded):
            if item is Cut:
                return ""
            if index >= len(ours):
                return f"{path}[{index}]: recorded {_short(item)}, ours missing"
            found = difference(item, ours[index], f"{path}[{index}]")
            if found:
                return found
        return (
            f"{path}[{len(recorded)}]: not recorded, ours {_short(ours[len(recorded)])}"
            if len(ours) > len(recorded)
            else ""
        )
    if type(recorded) is type(ours) and recorded == ours:
        return ""
    return f"{path}: recorded {_short(recorded)}, ours {_short(ours)}"


def _short(value: Any) -> str:
    text = json.dumps(value, default=repr, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]}…"


class Identities:
    """What the recording's server called things, and what ours calls them."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self.revisions: dict[str, str] = {}

    def learn(self, recorded: Any, ours: Any) -> None:
        """Pair the identities of two answers to the same request."""
        if isinstance(recorded, dict) and isinstance(ours, dict):
            for key in recorded:
                if key not in ours:
                    continue
                old, new = recorded[key], ours[key]
                if isinstance(old, str) and isinstance(new, str) and old and new:
                    if key == "resourceVersion":
                        self.revisions[old] = new
                    elif old != new and (key in ("uid", "continue") or (key == "name" and old.startswith("gen-"))):
                        self._known[old] = new
                else:
                    self.learn(old, new)
        elif isinstance(recorded, list) and isinstance(ours, list):
            for old, new in zip(recorded, ours, strict=False):
                self.learn(old, new)

    def translated(self, value: Any, key: str = "") -> Any:
        """A request's body in our terms."""
        if isinstance(value, dict):
            return {name: self.translated(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self.translated(item, key) for item in value]
        if isinstance(value, str):
            return self.revisions.get(value, value) if key == "resourceVersion" else self._known.get(value, value)
        return value

    def path(self, path: str) -> str:
        """A request's path and query in our terms."""
        for old, new in self._known.items():
            path = path.replace(old, new)
        path = re.sub(r"resourceVersion=(\d+)", lambda m: f"resourceVersion={self.revisions.get(m[1], m[1])}", path)
        return re.sub(r"continue=(ey[\w-]+)", lambda m: f"continue={self._token(m[1])}", path)

    def _token(self, token: str) -> str:
        """A continue token with the recording's revision replaced by ours; the rest of its form is the same."""
        try:
            content = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        except ValueError:
            return token
        content["rv"] = int(self.revisions.get(str(content["rv"]), content["rv"]))
        text = json.dumps(content, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(text).decode().rstrip("=")
