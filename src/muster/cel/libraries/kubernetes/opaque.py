"""How Kubernetes' own types behave as values: comparing them with another type is an error, not false."""

from __future__ import annotations

from typing import Generic, TypeVar

from muster.cel.values import OpaqueValue
from muster.errors import EvaluationError, FailureKind

Content = TypeVar("Content")


class Wrapped(OpaqueValue, Generic[Content]):
    """A value of muster.values, wrapped up for CEL. Immutable."""

    __slots__ = ("content",)

    def __init__(self, content: Content) -> None:
        self.content = content

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            raise EvaluationError("no such overload", FailureKind.NO_SUCH_OVERLOAD)
        return bool(self.content == other.content)

    def __hash__(self) -> int:
        return hash(self.content)

    def __str__(self) -> str:
        return str(self.content)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.content!s})"
