"""The nouns of Muster: every kind of object, its schema, its rules and its columns. Pure; no I/O.

Read `resource.py` (what a kind is), then a kind such as `placement.py`, then `validation.py` (how objects are checked).
"""

from muster.api.registry import RESOURCES, find
from muster.api.resource import PrinterColumn, Resource, Version
from muster.values.causes import Cause

__all__ = ["RESOURCES", "Cause", "PrinterColumn", "Resource", "Version", "find"]
