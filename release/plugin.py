"""`kubectl muster`, and the manifest by which krew finds it.

krew brings one archive per platform, and some of our dependencies are compiled for each Python: one file with all of it
would be right on one machine and wrong on the next. So the plugin is a small program that runs the `muster` of an
installation, and says how to get one if there is none.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import yaml

from release.tarballs import Tree, packed

if TYPE_CHECKING:
    from release.source import Source

NAME: Final = "kubectl-muster"
_PROGRAM: Final = """#!/bin/sh
# kubectl muster: the commands of Muster, where kubectl is typed.
if command -v muster >/dev/null 2>&1; then
  exec muster "$@"
fi
if command -v uvx >/dev/null 2>&1; then
  exec uvx --from 'muster-hub==VERSION' muster "$@"
fi
echo "kubectl muster needs Muster: pipx install muster-hub, or uv tool install muster-hub" >&2
exit 127
"""


def plugin(source: Source) -> bytes:
    """The archive that krew unpacks."""
    tree = Tree(source.epoch)
    tree.file(NAME, _PROGRAM.replace("VERSION", source.version), 0o755)
    tree.file("LICENSE", (source.folder / "LICENSE").read_bytes())
    return packed(tree.tar())


def manifest(source: Source, archive: bytes, base_url: str) -> str:
    """The manifest for krew's index. Where releases are published is a setting of who publishes them."""
    platforms = [
        {
            "selector": {"matchLabels": {"os": system}},
            "uri": f"{base_url}/v{source.version}/{NAME}-{source.version}.tar.gz",
            "sha256": hashlib.sha256(archive).hexdigest(),
            "bin": NAME,
        }
        for system in ("linux", "darwin")
    ]
    found = {
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": "muster"},
        "spec": {
            "version": f"v{source.version}",
            "shortDescription": "Which clusters fit a placement, and why not",
            "description": (
                "Says why a placement chose its clusters, what a change would move, what is wrong with an object,\n"
                "and which operators work together. Needs Python 3.11 or newer: pipx install muster-hub.\n"
            ),
            "caveats": "The plugin runs an installed muster, or fetches one with uvx if that is there.\n",
            "platforms": platforms,
        },
    }
    return yaml.safe_dump(found, sort_keys=False, width=120)
