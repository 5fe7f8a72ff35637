"""The programs that stand beside our engine: which there are, which environments each answers for, and how to ask."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from muster.cel import NAMES
from tests.differential.building import build
from tests.differential.cel.comparing import read
from tests.differential.cel.world import written
from tests.differential.peer import Peer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.differential.cel.ours import Answer
    from tests.differential.peer import Lost

_FOLDER: Final = Path(__file__).parent / "peers"
_SHARED: Final = {"newest": ("answering", "ocm", "olm")}  # modules of ours that a peer is built from

NEWEST: Final = "newest"
ORDINARY: Final = (
    # peer, environment
    (NEWEST, "kubernetes-1.37"),
    (NEWEST, "standard"),
    ("kubernetes-1.33", "kubernetes-1.33"),
    ("kubernetes-1.28", "kubernetes-1.28"),
    ("ocm", "ocm"),
    ("olm", "olm"),
)
LONG: Final = (
    *ORDINARY,
    *((NEWEST, name) for name in NAMES if name not in ("muster", "kubernetes-1.37", "standard")),
)


class Peers:
    """The peers, each built and started when it is first asked."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._running: dict[str, Peer] = {}
        self._world: Path | None = None

    def __enter__(self) -> Self:
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="differential-cel-"))
        self._world = Path(folder) / "world.json"
        self._world.write_text(written())
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self, name: str) -> Peer:
        if name not in self._running:
            shared = tuple(_FOLDER / each for each in _SHARED.get(name, ("answering",)))
            peer = Peer(build(_FOLDER / name, shared=shared), str(self._world))
            self._running[name] = self._stack.enter_context(peer)
        return self._running[name]

    def ask(self, name: str, environment: str, questions: Sequence[tuple[str, int]]) -> list[Answer | Lost]:
        """The answers to expressions, each over one set of values."""
        asked = [{"environment": environment, "expression": text, "set": chosen} for text, chosen in questions]
        return [read(answer) for answer in self.start(name).ask(asked)]
