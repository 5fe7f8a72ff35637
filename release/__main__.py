"""Makes everything of a release from a tag or commit, and a list of checksums: `make release REF=v0.1.0`.

Two runs give the same bytes as long as the locks are the same. The network is needed for what the locks name (wheels,
Debian packages), unless it is in the caches from before. What has to happen afterwards, with somebody's credentials, is
in docs/guides/releasing.md.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from release.image.build import build_image, cache
from release.image.wheels import fetched_wheels
from release.materials import bill_of_materials
from release.packages import packages
from release.plugin import NAME, manifest, plugin
from release.source import ReleaseError, Source, checked_out
from release.tarballs import Tree, packed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PUBLISHED: Final = "https://example.invalid/muster/releases/download"  # until there is a place: --base-url


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument("--ref", default="HEAD", help="tag or commit; `worktree` takes the files as they lie here")
    parser.add_argument("--into", default="dist", help="folder for everything; emptied first")
    parser.add_argument("--only", choices=("packages", "image", "all"), default="all")
    parser.add_argument("--twice", action="store_true", help="make everything once more, and compare")
    parser.add_argument("--base-url", default=_PUBLISHED, help="where releases are published, for krew's manifest")
    asked = parser.parse_args(arguments)
    into = Path(asked.into)
    try:
        with tempfile.TemporaryDirectory() as temporary:
            source = checked_out(asked.ref, Path(temporary) / "source")
            made = _made(source, into, asked.only, asked.base_url)
            if asked.twice:
                # From another folder into another one: no path may be in what is made.
                again = replace(source, folder=Path(shutil.copytree(source.folder, Path(temporary) / "once-more")))
                _compare(made, _made(again, Path(temporary) / "dist", asked.only, asked.base_url))
    except ReleaseError as error:
        sys.stderr.write(f"release: {error}\n")
        return 1
    return 0


def _compare(made: dict[str, str], other: dict[str, str]) -> None:
    """Raises ReleaseError for what is not the same the second time."""
    if differing := {name for name, _ in {*made.items()} ^ {*other.items()}}:
        raise ReleaseError(f"not the same the second time: {', '.join(sorted(differing))}")
    sys.stdout.write("the same the second time, byte for byte\n")


def _made(source: Source, into: Path, only: str, base_url: str) -> dict[str, str]:
    """Everything that is asked for, and its checksums by name."""
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    wheel, _ = packages(source, into)
    if only in ("image", "all"):
        _timed("image", lambda: _image(source, wheel, into))
    if only == "all":
        for name, content in _papers(source, wheel, base_url):
            (into / name).write_bytes(content)
    sums = {path.name: _sha256(path) for path in sorted(into.iterdir()) if path.is_file()}
    (into / "SHA256SUMS").write_text("".join(f"{sums[name]}  {name}\n" for name in sorted(sums)), encoding="utf-8")
    for name, digest in sums.items():
        sys.stdout.write(f"{(into / name).stat().st_size:>12,}  {digest}  {name}\n")
    return sums


def _image(source: Source, wheel: Path, into: Path) -> None:
    """The OCI layout as one archive; `oci/` beside it is the same unpacked, for tools that read folders."""
    build_image(source, wheel, into / "oci")
    tree = Tree(source.epoch)
    tree.add(into / "oci")
    (into / f"muster-{source.version}-image-linux-amd64.oci.tar").write_bytes(tree.tar())


def _papers(source: Source, wheel: Path, base_url: str) -> Iterator[tuple[str, bytes]]:
    """Manifests, chart, plugin, bill of materials, files for other programs, the documentation's site."""
    version = source.version
    yield "release.yaml", _printed(source, "-m", "muster", "kubernetes", "manifests").encode()
    crds = _printed(source, "-m", "muster", "kubernetes", "manifests", "--crds", "upstream")
    yield "release-beside-ocm.yaml", crds.encode()
    yield f"muster-chart-{version}.tgz", _archive(source, "charts/muster", "muster/")
    yield f"muster-deploy-{version}.tar.gz", _archive(source, "deploy", "deploy/")
    archive = plugin(source)
    yield f"{NAME}-{version}.tar.gz", archive
    yield "muster.krew.yaml", manifest(source, archive, base_url).encode()
    wheels = fetched_wheels(source.folder / "requirements.lock", cache() / "wheels")
    yield f"muster-{version}.cdx.json", bill_of_materials(source, wheels, wheel).encode()
    with tempfile.TemporaryDirectory() as site:
        _printed(source, "-m", "release.website", str(Path(site).resolve()))
        tree = Tree(source.epoch)
        tree.add(Path(site))
        yield f"muster-docs-{version}.tar.gz", packed(tree.tar())


def _archive(source: Source, folder: str, below: str) -> bytes:
    tree = Tree(source.epoch)
    tree.add(source.folder / folder, below)
    return packed(tree.tar())


def _printed(source: Source, *arguments: str) -> str:
    """What a module of these sources prints, not of those that happen to be installed."""
    variables = {
        **os.environ,
        "PYTHONPATH": f"{source.folder / 'src'}{os.pathsep}{source.folder}",
        "PYTHONHASHSEED": "0",
    }
    variables.pop("KUBECONFIG", None)
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=variables, cwd=source.folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"{' '.join(arguments)}: {done.stderr[-2000:]}")
    return done.stdout


def _timed(what: str, work: Callable[[], None]) -> None:
    started = time.monotonic()
    work()
    sys.stdout.write(f"{what}: {time.monotonic() - started:.0f} s\n")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
