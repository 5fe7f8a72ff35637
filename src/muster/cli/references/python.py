"""Makes docs/reference/python.md: `python -m muster.cli.references.python > docs/reference/python.md`.

What is said about each name is its docstring; a test runs every example of the page, as it stands.
"""

from __future__ import annotations

import enum
import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from muster.values.json import Json

INTRODUCTION: Final = Path(__file__).parent / "python_introduction.md"
MODULES: Final = ("muster", "muster.cel", "muster.jq", "muster.selectors", "muster.errors")
_OWN: Final = "muster."
_LONGEST: Final = 100


def reference() -> str:
    """The page."""
    parts = [INTRODUCTION.read_text(encoding="utf-8")]
    for name in MODULES:
        parts += _module(import_module(name))
    return "\n".join(parts).rstrip() + "\n"


def public(module: ModuleType) -> list[str]:
    """The names that a module promises. Errors have no list: all classes of the tree are meant."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(name for name in listed if not name.startswith("__"))
    return sorted(
        name for name, each in vars(module).items() if inspect.isclass(each) and each.__module__ == module.__name__
    )


def _module(module: ModuleType) -> Iterator[str]:
    yield f"## `{module.__name__}`\n"
    constants = []
    for name in public(module):
        value = getattr(module, name)
        if inspect.ismodule(value):
            continue
        if inspect.isclass(value):
            yield from _class(name, value)
        elif inspect.isfunction(value):
            yield f"### `{name}`\n\n{_signature(name, value)}\n{_told(value)}"
        else:
            constants.append(f"| `{name}` | {_constant(value)} |")
    if constants:
        yield "### Constants\n\n| name | |\n|---|---|\n" + "\n".join(constants) + "\n"


def _class(name: str, value: type) -> Iterator[str]:
    yield f"### `{name}`\n"
    if issubclass(value, enum.Enum):
        yield f"{_told(value)}\n" + ", ".join(f"`{each.value}`" for each in value) + "\n"
        return
    if issubclass(value, Exception):
        yield f"A `{value.__mro__[1].__name__}`.\n"
    yield _told(value)
    rows = []
    for each, member in inspect.getmembers_static(value):
        if each.startswith("_") or not _is_ours(value, each):
            continue
        found = _member(each, member)
        if found:
            rows.append(found)
    if rows:
        yield "| | |\n|---|---|\n" + "\n".join(rows) + "\n"


def _is_ours(value: type, name: str) -> bool:
    """Whether a class of ours has it, not one that it is made from."""
    return any(name in vars(each) for each in value.__mro__ if each.__module__.startswith(_OWN))


def _member(name: str, member: Json) -> str:
    plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    if isinstance(member, property):
        return f"| `{name}` | {_first(member)} |"
    if inspect.isfunction(plain):
        return f"| `{_short(name, plain)}` | {_first(plain)} |"
    return ""


def _first(value: object) -> str:
    told = (inspect.getdoc(value) or "").partition("\n\n")[0]
    return " ".join(told.split()).replace("|", "\\|")


def _short(name: str, value: Json) -> str:
    names = [
        f"{each}=" if parameter.default is not parameter.empty else each
        for each, parameter in inspect.signature(value).parameters.items()
        if each not in ("self", "cls")
    ]
    return f"{name}({', '.join(names)})"


def _signature(name: str, value: Json) -> str:
    """As it is written, over several lines if it is long."""
    signature = inspect.signature(value)
    whole = f"{name}{signature}".replace("'", "")
    if len(whole) > _LONGEST:
        parameters = [str(each).replace("'", "") for each in signature.parameters.values()]
        keywords = [each for each in signature.parameters.values() if each.kind is each.KEYWORD_ONLY]
        if keywords:
            parameters.insert(len(parameters) - len(keywords), "*")
        back = str(signature.return_annotation).replace("'", "")
        whole = f"{name}(\n" + "".join(f"    {each},\n" for each in parameters) + f") -> {back}"
    return f"```python\n{whole}\n```\n"


def _told(value: object) -> str:
    """The docstring; examples in it become blocks of code."""
    lines: list[str] = []
    inside = False
    for line in (inspect.getdoc(value) or "").splitlines():
        starts = line.lstrip().startswith(">>>")
        if starts and not inside:
            lines.append("```pycon")
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    if inside:
        lines.append("```")
    return "\n".join(lines) + "\n"


def _constant(value: Json) -> str:
    shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return (
        shown.replace("|", "\\|")
        if "object at" not in shown and "<" not in shown
        else f"of type `{type(value).__name__}`"
    )


if __name__ == "__main__":
    sys.stdout.write(reference())
