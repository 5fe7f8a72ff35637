"""`muster sync`: imported clusters as they are now, once or for as long as it runs."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - typer reads annotations at run time
from typing import TYPE_CHECKING, Annotated, Final

import typer

from muster.cli.hub.processes import identity, log_to_stderr, while_wanted
from muster.cli.inputs.options import Context, Kubeconfig, with_client
from muster.cli.kubernetes.companions import Listen, telling
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.paint import Shade, paint_for
from muster.cli.terminal.progress import Progress
from muster.errors import InvalidObjectError
from muster.values.quoting import printable

if TYPE_CHECKING:
    from muster.client import Client
    from muster.collecting.plugins import Plugins
    from muster.controllers.syncing.controller import SyncController, SyncSettings
    from muster.controllers.syncing.verdicts import Verdict
    from muster.importing.rules import Rules

_CLUSTERS: Final = "managedclusters.cluster.open-cluster-management.io"
_OTHER_FILES: Final = 1_100  # that are no kept connections: looks at others, most of all
_MOST_SECONDS: Final = 120  # between looks: a cluster is lost after five lease durations of 60 s


def command(
    name: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these clusters.")] = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on, and keep them true.")] = False,
    every: Annotated[
        int, typer.Option("--every", min=1, max=_MOST_SECONDS, metavar="SECONDS", help="Pause between two looks.")
    ] = 60,
    full_every: Annotated[
        int, typer.Option("--full-every", min=1, metavar="SECONDS", help="Pause between two looks at everything.")
    ] = 300,
    at_once: Annotated[int, typer.Option("--at-once", min=1, max=1000, help="Looks at the same time.")] = 64,
    keep_open: Annotated[
        int,
        typer.Option(
            "--keep-open", min=0, metavar="COUNT", help="With --watch: connections that stay open, 70 KB each."
        ),
    ] = 5_000,
    rules: Annotated[
        Path | None,
        typer.Option("--rules", metavar="FILE", help="Rules that make claims; else the hub's ConfigMap muster-sync."),
    ] = None,
    providers: Annotated[
        Path | None,
        typer.Option("--providers", metavar="FILE", help="Programs that may make credentials for ClusterProfiles."),
    ] = None,
    contexts_from: Annotated[
        str | None,
        typer.Option(
            "--contexts-from", metavar="FILE", help="Kubeconfig with the contexts that clusters were imported from."
        ),
    ] = None,
    lease_namespace: Annotated[
        str,
        typer.Option("--lease-namespace", metavar="NAMESPACE", help="With --watch: where its lease and the rules are."),
    ] = "kube-system",
    listen: Listen = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Bring imported clusters up to date: version, capacity, claims, availability.

    Credentials come from the Secret muster-kubeconfig in the cluster's namespace, from the access providers of its
    ClusterProfile, or from the context it was imported from. The condition Synced says what is wrong. With --watch,
    leases are renewed too: a cluster that answers no more becomes unreachable, and comes back when it answers.
    Exits with 1 when a cluster could not be read.

    Examples:
      muster sync
      muster sync --contexts-from hub/kubeconfig --rules examples/08-your-fleet/rules.yaml
    """
    if watch and name:
        raise InvalidObjectError("", "--watch keeps all imported clusters true: name none")

    async def once(client: Client) -> dict[str, Verdict | None]:
        chosen = _Chosen(rules, providers, contexts_from, every, full_every, at_once, 0)
        controller = await _controller(client, chosen)
        names = await _listed(client, controller, name or [])
        with Progress(f"of {len(names)} clusters read") as progress:
            return await _all(controller, names, at_once, progress)

    if watch:
        chosen = _Chosen(rules, providers, contexts_from, every, full_every, at_once, _affordable(keep_open))
        _watch(chosen, context, kubeconfig, lease_namespace, listen)
        return
    found = with_client(once, context, kubeconfig)
    if not found:
        sys.stdout.write("no cluster was imported with a way to it: `muster import` does that\n")
    if not _print(found):
        raise typer.Exit(int(Exit.NO))


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What was typed."""

    rules: Path | None
    providers: Path | None
    contexts: str | None
    every: int
    full_every: int
    at_once: int
    keep_open: int

    def settings(self) -> SyncSettings:
        from muster.controllers.syncing.controller import SyncSettings

        failing = max(1, self.at_once // 4)
        return SyncSettings(float(self.every), float(self.full_every), self.at_once, failing, kept=self.keep_open)

    def plugins(self) -> Plugins:
        from muster.collecting.plugins import read_plugins

        return {} if self.providers is None else read_plugins(self.providers)

    def own_rules(self) -> Rules | None:
        """Those of a file. What is wrong with them is told."""
        from muster.controllers.syncing.rules import rules_in
        from muster.importing.rules import extended

        if self.rules is None:
            return None
        found = extended(rules_in(_content(self.rules), str(self.rules)))
        sys.stderr.writelines(f"muster: {printable(fault)}\n" for fault in found.faults)
        return found


def _watch(chosen: _Chosen, context: str | None, kubeconfig: str | None, namespace: str, listen: str | None) -> None:
    import uvloop

    from muster.client import Candidate, load_connection
    from muster.collecting.access import Contexts
    from muster.controllers.manager import utc_now
    from muster.controllers.syncing.running import LEASE, SyncOptions, run_sync

    log_to_stderr()
    made: list[SyncController] = []
    options = SyncOptions(
        chosen.settings(),
        utc_now,
        Candidate(LEASE, identity(), namespace),
        chosen.plugins(),
        Contexts(chosen.contexts),
        chosen.own_rules(),
        namespace,
        lambda controller: made.__setitem__(slice(None), [controller]),
    )

    def ready(controller: SyncController) -> None:
        sys.stdout.write(f"{len(controller.names())} clusters are kept true\n")
        sys.stdout.flush()

    async def work() -> None:
        async with telling(listen, lambda: made[0].metrics if made else None):
            await run_sync(await load_connection(context, kubeconfig), options, ready)

    uvloop.run(while_wanted(work, supervised=False))


def _affordable(wanted: int) -> int:
    """As many connections as the process may have files, after asking for all that it may; some are for others."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or soft < hard:
        with contextlib.suppress(OSError, ValueError):
            most = max(soft, wanted + _OTHER_FILES)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most if hard == resource.RLIM_INFINITY else hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    affordable = wanted if soft == resource.RLIM_INFINITY else max(0, min(wanted, soft - _OTHER_FILES))
    if affordable < wanted:
        sys.stderr.write(f"muster: {soft} files may be open, so that {affordable} connections are kept (ulimit -n)\n")
    return affordable


async def _controller(client: Client, chosen: _Chosen) -> SyncController:
    from muster.collecting.access import Accesses, Contexts
    from muster.controllers.manager import utc_now
    from muster.controllers.runtime.containment import Unreadable
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.controllers.syncing.controller import SyncController
    from muster.controllers.syncing.rules import hub_rules

    accesses = Accesses(client, utc_now, chosen.plugins(), Contexts(chosen.contexts))
    rules = chosen.own_rules() or await hub_rules(client)
    return SyncController(client, accesses, utc_now, ControllerMetrics(), Unreadable(), chosen.settings(), rules)


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidObjectError(str(file), error.strerror or str(error)) from error


async def _listed(client: Client, controller: SyncController, names: list[str]) -> list[str]:
    """Show the controller all imported clusters; those that are meant."""
    import msgspec

    from muster.controllers.syncing.controller import LABEL
    from muster.values.api_paths import by_label

    path = (await client.discover()).named(_CLUSTERS).path()
    found = [each async for page in client.pages(path, params=by_label(LABEL)) for each in page["items"]]
    controller.mirror.replace([msgspec.json.encode(each) for each in found], "")
    known = controller.names()
    for name in names:
        if name not in known:
            raise InvalidObjectError("", f"{name} is no imported cluster that anybody knows how to get to")
    return names or known


async def _all(
    controller: SyncController, names: list[str], at_once: int, progress: Progress
) -> dict[str, Verdict | None]:
    gate = asyncio.Semaphore(at_once)

    async def one(name: str) -> Verdict | None:
        async with gate:
            found = await controller.look_once(name)
            progress.advance()
            return found

    return dict(zip(names, await asyncio.gather(*(one(name) for name in names)), strict=True))


def _print(found: dict[str, Verdict | None]) -> bool:
    """One line for each; whether all is well."""
    from muster.controllers.syncing.verdicts import SYNCED

    paint = paint_for()
    good = True
    for name, verdict in sorted(found.items()):
        status, reason, message = ("False", "Gone", "") if verdict is None else verdict.conditions[SYNCED]
        fine = status == "True"
        good &= fine
        state = paint(reason, Shade.GOOD if fine else Shade.BAD)
        version = verdict.state.version if verdict is not None and verdict.state.version else ""
        told = version if reason == "Synced" else f"{version + '; ' if version else ''}{printable(message)}"
        sys.stdout.write(f"{name}: {state} {told}\n")
    return good
