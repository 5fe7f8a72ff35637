"""The objects that a command looks at, from files."""

from __future__ import annotations

import contextlib
import gc
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.inputs.documents import Document, read_documents
from muster.cli.inputs.fields import text_in
from muster.cli.terminal.progress import Progress
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FleetFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--fleet",
        metavar="FILE",
        help="Objects to look at: files, directories, -; else the server of the kubeconfig.",
    ),
]
_NAMESPACED = frozenset({"Placement", "PlacementDecision", "ManagedClusterSetBinding", "AddOnPlacementScore"})


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


def overlaid(objects: Iterable[JsonObject], namespace: str) -> list[JsonObject]:
    """Of several states of one object the last one: files count more than what a server has."""
    newest = {}
    for obj in objects:
        placed = in_namespace(obj, namespace)
        metadata = placed["metadata"]
        name = text_in(metadata, "name") or text_in(metadata, "generateName")
        newest[placed["kind"], metadata.get("namespace", ""), name] = placed
    return list(newest.values())


def in_namespace(obj: JsonObject, namespace: str) -> JsonObject:
    """The object, in the namespace where it would be if it names none."""
    if obj["kind"] not in _NAMESPACED or obj["metadata"].get("namespace"):
        return obj
    return {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}
