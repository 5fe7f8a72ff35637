"""Names of a package that are imported when somebody asks for them, so that `import muster.cel` is quick.

A package says in a table which of its modules has which name, and the same once more for type checkers; a test compares
the two.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def lazy_names(
    package: str, homes: Mapping[str, Sequence[str]], modules: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package: names by the module they are in, and modules of its own."""
    found = {name: home for home, names in homes.items() for name in names}

    def get(name: str) -> Any:  # whatever the name stands for; type checkers read the imports
        if name in modules:
            return import_module(f"{package}.{name}")
        if (home := found.get(name)) is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)  # the next one who asks need not come here
        return value

    def names() -> list[str]:
        """What the package says is there, and what every module has; not modules that happen to be imported."""
        own = vars(sys.modules[package])
        return sorted({*own["__all__"], *(name for name in own if name.startswith("__"))})

    return get, names
