"""Constraints and other properties of bundles, from a seed: as people write them, and as nobody should.

Values are JSON values, or texts that are no JSON, which begin with the mark that the recorded cases use for them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tests.conformance.olm.requests import UNREADABLE

if TYPE_CHECKING:
    import random

PACKAGES: Final = ("app", "db", "queue", "cache")
APIS: Final = tuple(
    {"group": group, "version": version, "kind": kind}
    for group, version, kind in (
        ("data.io", "v1", "Database"),
        ("data.io", "v2", "Database"),
        ("mq.io", "v1", "Queue"),
        ("mq.io", "v1alpha1", "Topic"),
    )
)
RANGES: Final = (
    *(">=1.0.0", "<2.0.0", ">=1.0.0 <2.0.0", "1.x", "2.x", ">1.0.0 || <0.5.0", "1.0.0", "!1.0.0", "=2.0.0", "==1.1.0"),
    *("1.0.0 - 2.0.0", "^1.0.0", "~1", "", "*", ">=1", "!1.x", ">=1.0.0,<2.0.0", "1.0", ">= 1.0.0", ">=v1.0.0"),
)
RULES: Final = (
    "properties.exists(p, p.type == 'certified')",
    "properties.exists(p, p.type == 'certified' && p.value == true)",
    "properties.exists(p, p.type == 'tier' && p.value.n >= 3)",
    "properties.exists(p, p.type == 'tier' && p.value['n'] == 3)",
    "properties.exists(p, p.type == 'olm.package' && p.value.packageName == 'db')",
    "properties.exists(p, p.type == 'olm.package' && p.value.packageName == 'db' && "
    "(semver_compare(p.value.version, '1.1.0') >= 0))",
    "properties.filter(p, p.type == 'olm.gvk').size() > 0 && properties.exists(p, p.type == 'stable')",
    "properties.exists_one(p, p.type == 'olm.package')",
    "properties.all(p, p.type.startsWith('olm.'))",
    "properties.exists(p, p.type == 'words' && p.value == ['a', 'b'])",
    "!properties.exists(p, p.type == 'certified')",
    "properties.size() >= 3",
    "true",
    "false",
    "1 / 0 == 1",
    "properties.exists(p, semver_compare(p.value, '1.0.0') == 0)",
)
WRONG_RULES: Final = ("1", "properties", "properties.exists(p, p.typ", "undeclared == 1", "", "p.value.exists(x, x)")
_KINDS: Final = ("cel", "package", "gvk", "all", "any", "not")


def a_constraint(chance: random.Random, depth: int = 0) -> Any:
    """A value of olm.constraint; its members may be wrong, and rarely it is none at all."""
    drawn = chance.random()
    if drawn < 0.02:
        return chance.choice(({}, None, [], "text", 3, {"failureMessage": "only this"}, {"cell": {}}, {"rule": "true"}))
    kinds = chance.sample(_KINDS, 1 if chance.random() < 0.97 else 2)
    value: dict[str, Any] = {}
    if chance.random() < 0.4:
        value["failureMessage"] = chance.choice(
            ("needs a database", "", 'said "so"', 5 if chance.random() < 0.1 else "x")
        )
    for kind in kinds:
        value[kind] = a_content(chance, kind, depth)
    if chance.random() < 0.03:
        value = again(chance, value, lambda key: a_content(chance, key, depth) if key in _KINDS else "other")
    return value


def a_content(chance: random.Random, kind: str, depth: int) -> Any:
    if chance.random() < 0.015:
        return chance.choice((None, [], "text", 1, True))
    match kind:
        case "cel":
            return {"rule": chance.choice(RULES if chance.random() < 0.97 else WRONG_RULES)}
        case "package":
            return a_package(chance, "versionRange")
        case "gvk":
            return an_api(chance)
        case _:
            most = 3 if depth < 3 else 0
            return {"constraints": [a_constraint(chance, depth + 1) for _ in range(chance.randint(0, most))]}


def a_package(chance: random.Random, name: str) -> dict[str, Any]:
    wanted = chance.choice(RANGES[:10]) if chance.random() < 0.93 else chance.choice(RANGES)
    return odd(chance, {"packageName": chance.choice((*PACKAGES, "absent")), name: wanted})


def an_api(chance: random.Random) -> dict[str, Any]:
    return odd(chance, dict(chance.choice(APIS)))


def odd(chance: random.Random, value: dict[str, Any]) -> dict[str, Any]:
    """Mostly as it is; rarely with a key in another case, twice, missing, unknown or of another type."""
    drawn = chance.random()
    if drawn > 0.06:
        return value
    key = chance.choice(tuple(value))
    if drawn < 0.01:
        return {name: item for name, item in value.items() if name != key}
    if drawn < 0.02:
        return value | {"extra": 1}
    if drawn < 0.03:
        return value | {key: chance.choice((1, None, [], {}))}
    if drawn < 0.045:
        return {(name.upper() if name == key else name): item for name, item in value.items()}
    return again(chance, value, lambda _: chance.choice((value[key], "other", None, 7)))


def again(chance: random.Random, value: dict[str, Any], content: Any) -> dict[str, Any]:
    """One of its keys once more, in another case, before or after the first."""
    key = chance.choice(tuple(value))
    second = {chance.choice((key.upper(), key.capitalize())): content(key)}
    return value | second if chance.random() < 0.7 else second | value


def as_text(chance: random.Random, value: Any) -> Any:
    """Mostly the value; rarely its text with something behind it, or cut off."""
    drawn = chance.random()
    if drawn > 0.012:
        return value
    text = json.dumps(value)
    ends = (text + " x", text[:-1], "", "{", "{]", text + text, "'a'", "nul", "-", '{"cel":{"rule":"\\x"}}')
    return UNREADABLE + chance.choice(ends)


def some_properties(chance: random.Random, package: str, version: str) -> list[dict[str, Any]]:
    """Of one bundle: what it provides, what it requires, what it says of itself."""
    found: list[dict[str, Any]] = []

    def add(kind: str, value: Any) -> None:
        found.append({"type": kind, "value": as_text(chance, value)})

    if chance.random() < 0.5:
        add("olm.package", odd(chance, {"packageName": package, "version": version}))
    if chance.random() < 0.08:
        add("olm.package", {"packageName": package, "version": chance.choice(("3.0.0", "v1", version))})
    for _ in range(chance.choice((0, 0, 1, 1, 2))):
        add("olm.gvk", an_api(chance))
    for kind, value in (("certified", True), ("tier", {"n": chance.choice((1, 3, 3.5, "3"))}), ("stable", {})):
        if chance.random() < 0.3:
            add(kind, value)
    if chance.random() < 0.1:
        add("words", ["a", "b"])
    if chance.random() < 0.15:
        add("olm.label", odd(chance, {"label": chance.choice(("lts", "edge"))}))
    if chance.random() < 0.04:
        add("olm.deprecated", {})
    for _ in range(chance.choice((0, 0, 0, 1, 1, 2))):
        match chance.choice(("package", "gvk", "label", "constraint", "constraint")):
            case "package":
                add("olm.package.required", a_package(chance, "versionRange"))
            case "gvk":
                add("olm.gvk.required", an_api(chance))
            case "label":
                add("olm.label.required", odd(chance, {"label": chance.choice(("lts", "edge", "no"))}))
            case _:
                add("olm.constraint", a_constraint(chance))
    chance.shuffle(found)
    return found
