"""The nouns of Muster: every kind of object, its schema, its rules and its columns. Pure; no I/O.

Read `resource.py` (what a kind is), then a kind such as `placement.py`, then `validation.py` (how objects are checked).
Whoever needs one kind imports its module; the table of all of them is loaded when it is asked for.
"""

from typing import TYPE_CHECKING

from muster.lazy import lazy_names

if TYPE_CHECKING:
    from muster.api.registry import RESOURCES, find
    from muster.api.resource import PrinterColumn, Resource, Version
    from muster.values.causes import Cause

__all__ = ["RESOURCES", "Cause", "PrinterColumn", "Resource", "Version", "find"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "muster.api.registry": ("RESOURCES", "find"),
        "muster.api.resource": ("PrinterColumn", "Resource", "Version"),
        "muster.values.causes": ("Cause",),
    },
)
