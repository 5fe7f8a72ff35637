"""Objects from files, directories and standard input, as commands name them. Reading is the library's matter."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from muster.errors import InvalidObjectError
from muster.library.documents import SUFFIXES, Document, read_files, read_path, read_stream, yaml_values
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from muster.library.heads import Headed

__all__ = ["SUFFIXES", "Document", "load_all", "load_one", "read_documents", "read_heads", "read_objects"]


def read_documents(names: Iterable[str]) -> Iterator[Document]:
    """Every object in the named files, directories and `-`, in that order."""
    for name in names:
        if name == "-":
            yield from read_stream("stdin", sys.stdin.buffer)
        else:
            yield from read_path(name)


def read_heads(names: Iterable[str]) -> Iterator[Headed]:
    """The same, each as it stands in its file."""
    from muster.library.heads import read_headed  # who asks a server reads none

    for name in names:
        if name == "-":
            yield from read_headed("stdin", sys.stdin.buffer)
        else:
            yield from read_files(name, read_headed)


def read_objects(names: Sequence[str]) -> Iterator[Document]:
    """The same, of files that must have something in them: what is to be done with nothing is a mistake."""
    found = False
    for document in read_documents(names):
        found = True
        yield document
    if not found:
        raise InvalidObjectError(", ".join(names), "there is no object in it")


def load_all(name: str) -> list[Json]:
    """The documents of a file, whatever they are."""
    try:
        text = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise InvalidObjectError(name, error.strerror or str(error)) from error
    return [value for _, value in yaml_values(name, text)]


def load_one(name: str) -> Json:
    """The one document of a file, whatever it is."""
    documents = load_all(name)
    if len(documents) != 1:
        raise InvalidObjectError(name, f"one document was expected, there are {len(documents)}")
    return documents[0]
