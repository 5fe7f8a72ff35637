"""The page docs/reference/cel-functions.md, made from the declarations: `python -m muster.cel.libraries.reference`.

A test compares the page with what this makes, so that the documentation cannot fall behind the functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.environments import NAMES, environment
from muster.cel.values import Uint

if TYPE_CHECKING:
    from muster.cel.declarations import Function, Macro, Overload
    from muster.cel.values.value import Value

_INTRODUCTION = """\
# CEL functions

Every function, operator and macro of the environments, with its signatures, its examples and where it can be used.
The page is made from the declarations by `python -m muster.cel.libraries.reference`; the examples are run by the tests.

A signature such as `string.(int) -> bool` is called on its first argument: `x.f(1)`.
"""


def page() -> str:
    """The whole page."""
    parts = [_INTRODUCTION, "## Macros\n"]
    parts.extend(_macro(name, *entry) for name, entry in sorted(_macros().items()))
    parts.append("## Operators and functions\n")
    parts.extend(_function(name, *entry) for name, entry in sorted(_functions().items()))
    return "\n".join(parts)


def _functions() -> dict[str, tuple[Function, list[str]]]:
    """Each function in its fullest form, and the environments that have it. Names with @ are for macros only."""
    found: dict[str, tuple[Function, list[str]]] = {}
    for env_name in NAMES:
        for name, function in environment(env_name).functions.items():
            if "@" in name and name != "@in":
                continue
            known, names = found.get(name, (function, []))
            fullest = function if len(function.overloads) > len(known.overloads) else known
            found[name] = (fullest, [*names, env_name])
    return found


def _macros() -> dict[str, tuple[list[Macro], list[str]]]:
    found: dict[str, tuple[list[Macro], list[str]]] = {}
    for env_name in NAMES:
        for macro in environment(env_name).macros.values():
            forms, names = found.setdefault(macro.name, ([], []))
            if macro not in forms:
                forms.append(macro)
            if env_name not in names:
                names.append(env_name)
    return found


def _function(name: str, function: Function, names: list[str]) -> str:
    lines = [f"### `{name}`\n"]
    if function.doc:
        lines.append(f"{function.doc}\n")
    lines.extend(f"- `{_signature(overload)}`" for overload in function.overloads)
    lines.append("")
    lines.extend(_examples(function.examples))
    lines.append(f"In {_where(names)}.\n")
    return "\n".join(lines)


def _macro(name: str, forms: list[Macro], names: list[str]) -> str:
    lines = [f"### `{name}` (macro)\n"]
    lines.extend(f"- {_shape(macro)}: {macro.doc}" for macro in forms)
    lines.append("")
    for macro in forms:
        lines.extend(_examples(macro.examples))
    lines.append(f"In {_where(names)}.\n")
    return "\n".join(lines)


def _shape(macro: Macro) -> str:
    count = "any number of arguments" if macro.arg_count is None else f"{macro.arg_count} arguments"
    return f"called on a value with {count}" if macro.receiver else f"called with {count}"


def _signature(overload: Overload) -> str:
    args = [str(arg) for arg in overload.args]
    if overload.member:
        return f"{args[0]}.({', '.join(args[1:])}) -> {overload.result}"
    return f"({', '.join(args)}) -> {overload.result}"


def _examples(examples: Value) -> list[str]:
    if not examples:
        return []
    return ["```cel", *(f"{text}  // {_shown(value)}" for text, value in examples.items()), "```", ""]


def _shown(value: Value) -> str:
    """A value as an expression would write it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Uint():
            return f"{int(value)}u"
        case list():
            return f"[{', '.join(map(_shown, value))}]"
        case dict():
            return "{" + ", ".join(f"{_shown(key)}: {_shown(item)}" for key, item in value.items()) + "}"
        case _:
            return repr(value)


def _where(names: list[str]) -> str:
    """The environments, the Kubernetes versions as a range."""
    kubernetes = [name for name in names if name.startswith("kubernetes-")]
    others = [name for name in names if not name.startswith("kubernetes-")]
    if not kubernetes:
        return ", ".join(others)
    first = kubernetes[0].removeprefix("kubernetes-")
    everywhere = len(kubernetes) == sum(name.startswith("kubernetes-") for name in NAMES)
    return ", ".join(["Kubernetes" if everywhere else f"Kubernetes since {first}", *others])


if __name__ == "__main__":
    print(page(), end="")
