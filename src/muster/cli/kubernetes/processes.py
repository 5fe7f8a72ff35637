"""The processes of one replica: how `muster kubernetes run` and `placement controller` start and supervise them.

The first serves (webhooks, questions, health), the second has the controllers; either is started again when it dies.
The second has a memory limit and must make progress, as beside the hub (`cli/hub/supervisor.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from muster.cli.hub.processes import identity, say_ready, while_wanted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.client import Connection
    from muster.controllers.duties import Duties
    from muster.controllers.manager import Manager
    from muster.kubernetes.serving.replica import ReplicaSettings
    from muster.values.json import JsonObject

SERVING, CONTROLLERS = "serving", "controllers"
#: Seconds: a lease that is not renewed ends after the first, its holder writes nothing after the second, and renews it
#: every so often as the third says. A replica that is killed is followed within seven seconds.
LEASE: Final = (6.0, 4.0, 1.0)
_CGROUP: Final = Path("/sys/fs/cgroup/memory.max")
_SHARE: Final = 0.75  # of a Pod's memory that the controllers may have; the rest is for serving and the supervisor


@dataclass(frozen=True, slots=True)
class Controlling:
    """What the controllers' process is told."""

    duties: Duties
    namespace: str
    lease: str
    state: Path
    answers: bool  # questions about the fleet
    catalogs: Mapping[str, Path]
    identity: str = ""
    succeeds: str = ""
    vitals: Path | None = None
    set_aside: str = ""
    profiles: bool = False


def log_to_stderr(level: str) -> None:
    logging.basicConfig(level=level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for chatty in ("aiohttp", "uvicorn", "asyncio"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, logging.getLogger().level))


async def connection_of(context: str | None, kubeconfig: str | None) -> Connection:
    """The server and who we are: --kubeconfig and --context, else $KUBECONFIG, else the Pod's own account, else
    ~/.kube/config."""
    from muster.client.kubeconfig import in_cluster, load_connection

    if not kubeconfig and not context and not os.environ.get("KUBECONFIG") and (own := in_cluster()) is not None:
        return own
    return await load_connection(context, kubeconfig)


def run_supervised(
    command: Sequence[str], options: Sequence[str], memory: int | None, patience: float, name: str = ""
) -> None:
    """Keep both processes running until a signal comes. `command` starts a part with `--part NAME --supervised`."""
    from muster.cli.hub.controllers_process import VITALS, ControllersProcess
    from muster.cli.hub.supervisor import Part, supervise

    state = Path(tempfile.mkdtemp(prefix="muster-kubernetes-"))
    shared = [*options, "--supervised", "--state", str(state)]
    limit = pod_memory_limit() if memory is None else memory * 2**20

    def told(what: str) -> None:
        sys.stdout.write(f"{what}\n")
        sys.stdout.flush()

    controllers = ControllersProcess(
        state,
        [*shared, "--part", CONTROLLERS],
        f"{name}_{identity()}" if name else identity(),
        limit,
        patience,
        command,
    )
    serving = [*command, *shared, "--part", SERVING, "--vitals", str(state / VITALS)]
    try:
        code = asyncio.run(
            supervise(
                Part("serving", lambda: serving, lambda _: told("serving")),
                controllers.part(lambda said: told(f"leading, over {said.get('clusters', 0)} clusters")),
            )
        )
    finally:
        shutil.rmtree(state, ignore_errors=True)
    if code:
        raise typer.Exit(code)
    told("stopped; the lease is free")


def pod_memory_limit() -> int | None:
    """Bytes for the controllers, so that it is they who are ended and not the Pod; None where nothing limits a Pod."""
    with contextlib.suppress(OSError, ValueError):
        return int(int(_CGROUP.read_text()) * _SHARE)  # "max" where there is no limit
    return None


def run_serving(context: str | None, kubeconfig: str | None, settings: ReplicaSettings, supervised: bool) -> None:
    import uvloop

    from muster.kubernetes.serving.replica import run_replica

    async def work() -> None:
        await run_replica(await connection_of(context, kubeconfig), settings, lambda: say_ready(part=SERVING))

    uvloop.run(while_wanted(work, supervised))


def run_controlling(context: str | None, kubeconfig: str | None, told: Controlling, supervised: bool) -> None:
    import uvloop

    from muster.client import Candidate
    from muster.controllers.manager import Options, run_controllers
    from muster.controllers.questions.asking import CONTROLLERS_ADDRESS
    from muster.controllers.runtime.quarantine import read_entries
    from muster.questions.observer import Observer
    from muster.supervision import Vitals, cycles

    candidate = Candidate(told.lease, told.identity or identity(), told.namespace, told.succeeds, *LEASE)
    watched: JsonObject = {"vitals": None if told.vitals is None else Vitals.open(told.vitals)}

    running: list[Manager] = []

    def ready(manager: Manager) -> None:
        running[:] = [manager]
        cycles.freeze_loaded_objects()
        say_ready(clusters=len(manager.world.fleet))

    async def work() -> None:
        options = Options(
            candidate,
            address=told.state / CONTROLLERS_ADDRESS,
            catalogs=told.catalogs,
            set_aside=read_entries(told.set_aside),
            namespace=told.namespace,
            observer=Observer if told.answers else None,
            duties=told.duties,
            profiles=told.profiles,
            **watched,
        )
        async with cycles.seldom(lambda: any(not each.placements.queue.idle for each in running)):
            await run_controllers(await connection_of(context, kubeconfig), ready, options)

    uvloop.run(while_wanted(work, supervised))
