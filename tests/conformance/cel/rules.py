"""Where Muster differs from recorded CEL on purpose. Each rule is a heading of docs/differences.md.

A rule looks at the expression and the record, and says everything that is wanted instead: value, error, phase, type.
"""

from __future__ import annotations

import ast
import ipaddress
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.conformance.cel.calls import calls, map_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True)
class Difference:
    """A name, which cases it is about, and the record that we want instead."""

    name: str
    applies: Callable[[Mapping[str, Any]], bool]
    instead: Callable[[Mapping[str, Any]], dict[str, Any]] = field(default=dict)


def _literal(text: str) -> Any:
    """The value of a text or number that is written down; None for anything else."""
    try:
        return ast.literal_eval(text.rstrip("uU") if re.fullmatch(r"\d+[uU]", text) else text)
    except (ValueError, SyntaxError):
        return None


# --- cel-spec's tests that cel-go does not pass either: we do what cel-go does ----------------------------------------


def _searches_beyond_the_end(case: Mapping[str, Any]) -> bool:
    found = [
        each for each in calls(case["expr"]) if each.name in ("indexOf", "lastIndexOf") and len(each.arguments) == 2
    ]
    target = _literal(case["expr"].partition(".")[0])
    return (
        str(case["error"]).startswith("index out of range")
        and isinstance(target, str)
        and any(
            isinstance(_literal(each.arguments[1]), int) and _literal(each.arguments[1]) > len(target) for each in found
        )
    )


def _not_found(case: Mapping[str, Any]) -> dict[str, Any]:
    """The search gives -1, whatever is made of that."""
    rest = case["expr"].rpartition(")")[2].strip()
    if rest == "":
        return {"expect": {"int": "-1"}, "error": None, "type": "int"}
    if rest == "== -1":
        return {"expect": {"bool": True}, "error": None, "type": "bool"}
    raise ValueError(f"what is wanted of a search that is followed by {rest!r}")


def _mapped_addresses(case: Mapping[str, Any]) -> list[str]:
    """Texts given to ip() that are IPv4 addresses in the form of IPv6."""
    found = []
    for each in calls(case["expr"]):
        value = _literal(each.arguments[0]) if each.name == "ip" and len(each.arguments) == 1 else None
        try:
            address = ipaddress.ip_address(value) if isinstance(value, str) else None
        except ValueError:
            continue
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            found.append(str(value))
    return found


def _mapped(case: Mapping[str, Any]) -> dict[str, Any]:
    address = _mapped_addresses(case)[0]
    at = case["expr"].index(f"ip('{address}'") if f"ip('{address}'" in case["expr"] else case["expr"].index("ip(")
    column = at + len("ip(")
    text = f'ERROR: <input>:1:{column + 1}: invalid ip argument: IPv4-mapped IPv6 address "{address}" is not allowed'
    return {
        "expect": None,
        "error": f"{text}\n | {case['expr']}\n | {'.' * column}^",
        "error_phase": "compile",
        "exact": True,
    }


def _null_among_optionals(case: Mapping[str, Any]) -> bool:
    """A list of optionals and then null, of which the suite says that it has the type of the optionals."""
    has_null = re.search(r"\boptional\.\w+\([^)]*\)\s*,\s*null\b", case["expr"])
    return bool(case.get("check_only")) and has_null is not None


def _duration_in_milliseconds(case: Mapping[str, Any]) -> int | None:
    """The whole of a duration of which an expression asks for the milliseconds."""
    asked = re.fullmatch(r"(\w+)\.getMilliseconds\(\)", case["expr"].strip())
    recorded = ((case.get("vars") or {}).get(asked[1]) or {}).get("duration") if asked else None
    return None if recorded is None else int(recorded["seconds"]) * 1000 + int(recorded["nanos"]) // 1_000_000


def _milliseconds(case: Mapping[str, Any]) -> dict[str, Any]:
    return {"expect": {"int": str(_duration_in_milliseconds(case))}, "error": None, "type": "int"}


CONFORMANCE: tuple[Difference, ...] = (
    Difference("Searching a text from beyond its end", _searches_beyond_the_end, _not_found),
    Difference(
        "IPv4 addresses written as IPv6", lambda case: not case["error"] and bool(_mapped_addresses(case)), _mapped
    ),
    Difference("Null among optionals", _null_among_optionals, lambda _: {"deduced_type": "null"}),
    Difference("Milliseconds of a duration", lambda case: _duration_in_milliseconds(case) is not None, _milliseconds),
)


# --- recorded programs that do less than the specification says -------------------------------------------------------


_KEY_KINDS = frozenset({"bool", "int", "uint", "string"})


def _has_other_keys(expected: Any) -> bool:
    """Whether a value has a map with a key that can be none."""
    match expected:
        case {"map": entries}:
            return any(_KEY_KINDS.isdisjoint(key) or _has_other_keys(item) for key, item in entries)
        case {"list": items}:
            return any(map(_has_other_keys, items))
        case _:
            return False


def _repeats_a_key(expression: str) -> bool:
    """Whether a map literal has a key twice: the same text or number, however it is written."""
    for keys in map_keys(expression):
        known = [value if (value := _literal(key)) is not None else f"?{key}" for key in keys]
        if len(set(map(repr, known))) != len(known):
            return True
    return False


def _fails(text: str) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    return lambda _: {"expect": None, "error": text, "error_phase": "runtime", "cost": None, "exact": True}


RECORDED: tuple[Difference, ...] = (
    Difference(
        "Map keys that are no keys", lambda case: _has_other_keys(case.get("expect")), _fails("unsupported key type")
    ),
    Difference(
        "Map keys given twice",
        lambda case: case.get("expect") is not None and _repeats_a_key(case["expr"]),
        _fails("Failed with repeated key"),
    ),
)


def found(among: tuple[Difference, ...], case: Mapping[str, Any]) -> Difference | None:
    return next((each for each in among if each.applies(case)), None)


def instead(among: tuple[Difference, ...], name: str, case: Mapping[str, Any]) -> dict[str, Any]:
    """The record as we want it under the rule of that name."""
    rule = next(each for each in among if each.name == name)
    return {**case, **rule.instead(case)}
