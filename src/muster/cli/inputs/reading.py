"""The objects of the files that a command looks at, and that nobody searches them for garbage."""

from __future__ import annotations

import contextlib
import gc
from itertools import islice
from typing import TYPE_CHECKING, Final

from muster.cli.inputs.documents import Document, read_documents, read_heads
from muster.cli.terminal.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.library.heads import Headed

_AT_ONCE: Final = 500  # between two looks at the clock


def heads(files: list[str]) -> list[Headed]:
    """The same as `counted`, of which nothing is decoded that need not be."""
    with staying(), Progress("read") as progress:
        found: list[Headed] = []
        objects = read_heads(files)
        while some := list(islice(objects, _AT_ONCE)):
            found += some
            progress.advance(len(some))
    return found


def counted(files: list[str]) -> list[Document]:
    """Everything in files; who waits for a large fleet sees how far it is."""
    found = []
    with staying(), Progress("read") as progress:
        for document in read_documents(files):
            found.append(document)
            progress.advance()
    return found


@contextlib.contextmanager
def staying() -> Iterator[None]:
    """What is made in here stays until the command ends: nobody looks through it for garbage, neither meanwhile nor
    later. For a large fleet that takes longer than to read it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
