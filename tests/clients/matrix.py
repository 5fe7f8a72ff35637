"""The table: clients down, verbs across. A client is a name and a function per verb that it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Verb = Callable[[], None]

VERBS = (
    "version",
    "discover",
    "create",
    "get",
    "list",
    "update",
    "patch",
    "apply",
    "watch",
    "delete",
    "custom",
    "events",
    "certificate",
)


class CannotBeHadError(Exception):
    """A client that this machine does not have and cannot get, with the words why."""


@dataclass
class Client:
    """What one client can do. A verb that it lacks is no cell."""

    name: str
    verbs: dict[str, Verb]


@dataclass
class Table:
    """What came of it."""

    cells: dict[str, dict[str, str]] = field(default_factory=dict)  # by client and verb: "ok", or what went wrong
    skipped: dict[str, str] = field(default_factory=dict)

    def run(self, client: Client) -> None:
        row = self.cells[client.name] = {}
        for verb in VERBS:
            work = client.verbs.get(verb)
            if work is None:
                continue
            try:
                work()
            except Exception as error:  # whatever a client raises is what the cell says
                row[verb] = f"{type(error).__name__}: {error}"
            else:
                row[verb] = "ok"

    @property
    def failures(self) -> list[tuple[str, str, str]]:
        return [(name, verb, what) for name, row in self.cells.items() for verb, what in row.items() if what != "ok"]

    def text(self) -> str:
        """The matrix, with what failed and what was left out below."""
        width = max((len(name) for name in self.cells), default=0)
        lines = [" ".join([" " * width, *VERBS])]
        for name, row in self.cells.items():
            marks = ("-" if verb not in row else "ok" if row[verb] == "ok" else "FAIL" for verb in VERBS)
            lines.append(" ".join([name.ljust(width), *(m.ljust(len(v)) for m, v in zip(marks, VERBS, strict=True))]))
        lines += [f"FAILED {name} {verb}: {what}" for name, verb, what in self.failures]
        lines += [f"left out: {name}: {why}" for name, why in self.skipped.items()]
        good = sum(what == "ok" for row in self.cells.values() for what in row.values())
        lines.append(f"{good} of {good + len(self.failures)} cells work, {len(self.skipped)} clients left out")
        return "\n".join(lines)
