"""What expressions compute with. `Any` stands here once: a signature says whether it takes a value of the language."""

from __future__ import annotations

from typing import Any, TypeAlias

Value: TypeAlias = Any
"""A CEL value in its Python form: the classes of `model`, and plain bool, int, float, str, bytes, list and None."""
