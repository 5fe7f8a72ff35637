"""`muster demo fleet`: a synthetic fleet of any size, as files or as a stream of JSON lines."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import msgspec
import typer

from muster.cli.terminal.commands import App
from muster.cli.terminal.progress import Progress
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.demo import Fleet

app = App()
# The number in a file's name is the order in which `apply -f DIR` has to read them.
_ORDER = ("Namespace", "ManagedClusterSet", "ManagedClusterSetBinding", "ManagedCluster")


@app.callback()
def _demo() -> None:
    """Make synthetic fleets."""


@app.command()
def fleet(
    clusters: Annotated[int, typer.Option("--clusters", min=0, metavar="COUNT", help="How many clusters.")] = 48,
    hosts: Annotated[int, typer.Option("--hosts", min=0, metavar="COUNT", help="How many bare-metal hosts.")] = 24,
    seed: Annotated[int, typer.Option("--seed", help="The same seed makes the same fleet.")] = 1,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="DIRECTORY", help="Directory for one file per kind, or - for stdout."),
    ] = "-",
) -> None:
    """Write a realistic fleet: clusters with labels, claims, taints and scores, sets, placements, hosts.

    One JSON object a line, which `muster apply -f` and `kubectl apply -f` both read.

    Examples:
      muster demo fleet -o demo-fleet
      muster demo fleet --clusters 1000 --hosts 0 --seed 7 -o large-fleet
      muster demo fleet --clusters 3 | muster jq -r .metadata.name
    """
    from muster.demo import Fleet

    wanted = Fleet(clusters, hosts, seed)
    with Progress("made") as progress:
        if output == "-":
            for line in _lines(wanted, progress):
                sys.stdout.write(line[1].decode())
        else:
            _write_files(Path(output), wanted, progress)


def _lines(wanted: Fleet, progress: Progress) -> Iterator[tuple[str, bytes]]:
    from muster.demo import fleet_objects

    encoder = msgspec.json.Encoder()
    for obj in fleet_objects(wanted):
        yield obj["kind"], encoder.encode(obj) + b"\n"
        progress.advance()


def _write_files(folder: Path, wanted: Fleet, progress: Progress) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InvalidObjectError(str(folder), "this directory is not empty; name a new one")
        files: dict[str, BinaryIO] = {}
        with ExitStack() as stack:
            for kind, line in _lines(wanted, progress):
                if kind not in files:
                    rank = _ORDER.index(kind) if kind in _ORDER else len(_ORDER)
                    files[kind] = stack.enter_context((folder / f"{rank}0-{kind.lower()}s.json").open("wb"))
                files[kind].write(line)
    except OSError as error:
        raise InvalidObjectError(str(folder), error.strerror or str(error)) from error
    progress.say(f"wrote {', '.join(sorted(path.name for path in folder.iterdir()))} to {folder}")
