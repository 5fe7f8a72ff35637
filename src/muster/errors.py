"""Every error that Muster raises on purpose. Anything else is a bug.

MusterError
├── InvalidExpressionError       a CEL expression or jq query that cannot run: source and diagnostics
├── InvalidObjectError           an object that breaks its schema or a rule: field path and reason
├── EvaluationError              it ran and failed
│   └── BudgetExceededError      it ran into a limit: which one, and how to raise it
├── ResolutionImpossibleError    no set of operators meets every requirement
├── PluginError                  a plugin that cannot be wired or has failed: its name and the cause
├── StorageError                 the database cannot be used: what, where, what to do
└── ApiError                     an answer of an API server, as a Status object says it

Languages, storage, the hub and the resolver subclass these beside the code that raises them.
Errors carry data; `__str__` makes the sentence.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.source import Diagnostic, Source


LONGEST_TEXT = 256_000  # characters of all diagnostics: each may show a line of thousands


class MusterError(Exception):
    """The root: everything we raise on purpose."""


class InvalidExpressionError(MusterError):
    """A text in one of our languages that cannot be run, with everything that is wrong with it."""

    def __init__(self, source: Source, diagnostics: Sequence[Diagnostic]) -> None:
        self.source = source
        self.diagnostics = tuple(diagnostics)
        super().__init__(source, self.diagnostics)

    def __str__(self) -> str:
        shown: list[str] = []
        length = 0
        for diagnostic in self.diagnostics:
            shown.append(self.source.render(diagnostic))
            length += len(shown[-1])
            if length > LONGEST_TEXT and len(shown) < len(self.diagnostics):
                shown.append(f"and {len(self.diagnostics) - len(shown)} more")
                break
        return "\n".join(shown)


class InvalidObjectError(MusterError):
    """An object that breaks a rule: where, and what the rule is."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(path, reason)

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


class FailureKind(StrEnum):
    """What kind of failure an evaluation met: a word that tells nothing of the values it was about.

    Reasons carry it where the message, which may quote values, is not for the reader. Stable, as the codes are.
    """

    NO_SUCH_KEY = "NoSuchKey"
    NO_SUCH_ATTRIBUTE = "NoSuchAttribute"
    NO_SUCH_OVERLOAD = "NoSuchOverload"
    DIVISION_BY_ZERO = "DivisionByZero"
    MODULUS_BY_ZERO = "ModulusByZero"
    INTEGER_OVERFLOW = "IntegerOverflow"
    TIMESTAMP_OVERFLOW = "TimestampOverflow"
    INDEX_OUT_OF_BOUNDS = "IndexOutOfBounds"
    TYPE_CONVERSION = "TypeConversion"
    BUDGET_EXCEEDED = "BudgetExceeded"
    OPTIONAL_NONE = "OptionalNone"
    REPEATED_KEY = "RepeatedKey"
    INVALID_QUALIFIER = "InvalidQualifier"
    UNSUPPORTED_INDEX = "UnsupportedIndex"
    UNSUPPORTED_KEY = "UnsupportedKey"
    UNORDERED_NAN = "UnorderedNaN"
    NOT_A_NUMBER = "NotANumber"
    NOT_JSON = "NotJSON"
    NOT_BASE64 = "NotBase64"
    NOT_AN_ADDRESS = "NotAnAddress"
    NOT_A_NETWORK = "NotANetwork"
    NOT_A_URL = "NotAURL"
    OTHER_FORMAT = "OtherFormat"
    INVALID_REGEX = "InvalidRegex"
    INTERNAL = "Internal"
    OTHER = "Other"


class EvaluationError(MusterError):
    """An expression or query ran and failed. The message is the language's own text and may quote values.

    `about` is what was asked for and is not there: the key of a NoSuchKey.
    """

    def __init__(self, message: str, kind: FailureKind = FailureKind.OTHER, about: str = "") -> None:
        self.message = message
        self.kind = kind
        self.about = about
        super().__init__(message)

    def __str__(self) -> str:
        return self.message


class BudgetExceededError(EvaluationError):
    """An evaluation reached a limit. No construct of the language may catch it."""

    def __init__(self, message: str, budget: str) -> None:
        self.budget = budget
        super().__init__(message, FailureKind.BUDGET_EXCEEDED)


class ResolutionImpossibleError(MusterError):
    """No choice of operators meets every requirement."""


class PluginError(MusterError):
    """A plugin that cannot be wired, or that failed."""

    def __init__(self, plugin: str, cause: str) -> None:
        self.plugin = plugin
        self.cause = cause
        super().__init__(plugin, cause)

    def __str__(self) -> str:
        return f"plugin {self.plugin}: {self.cause}"


class StorageError(MusterError):
    """The database cannot be opened, read or written."""


class ApiError(MusterError):
    """An API server's refusal, in the terms of a Kubernetes Status.

    `kind` and `name` are of what it is about, as the details of a Status say it: a resource's plural, and an object.
    """

    def __init__(self, code: int, reason: str, message: str, kind: str = "", name: str = "") -> None:
        self.code = code
        self.reason = reason
        self.message = message
        self.kind = kind
        self.name = name
        super().__init__(code, reason, message)

    def __str__(self) -> str:
        return self.message
