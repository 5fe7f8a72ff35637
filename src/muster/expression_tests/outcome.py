"""What came of one case."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel.values.value import Value

ALLOWED: Final = "allowed"
DENIED: Final = "denied"
NOT_MATCHED: Final = "not matched"
VALUE: Final = "value"
FAILED: Final = "error"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict, or a value; what was said with it."""

    verdict: str
    message: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)
    value: Value = None
