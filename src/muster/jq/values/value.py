"""What queries compute with. `Any` stands here once: a signature says whether it takes a value of the language."""

from __future__ import annotations

from typing import Any, TypeAlias

Value: TypeAlias = Any
"""A jq value in its Python form: None, a bool, an int or float, a str, a list or a dict with texts as keys."""
