"""`muster hub`: run the embedded home, back it up, restore it, ask how it is."""

from __future__ import annotations

import contextlib
import json
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from muster.cli.hub import credentials as token
from muster.cli.hub.directory import Data, chosen, chosen_aloud, process, running
from muster.cli.inputs.catalogs import named_catalogs
from muster.cli.inputs.limits import ControllersLimits, HubLimits, ServerLimits, arguments, takes
from muster.cli.inputs.options import Context, Kubeconfig, with_client
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_json
from muster.errors import ApiError
from muster.hub.audit import AuditLevel
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

    from muster.app import Running
    from muster.client import Client
    from muster.hub.storage import Restored


class WarnOrRefuse(StrEnum):
    """What happens to an object that is valid and cannot work."""

    WARN = "warn"
    REFUSE = "refuse"


app = typer.Typer(no_args_is_help=True)
app.add_typer(token.tokens, name="token")
app.add_typer(token.certificates, name="certificate")
NewData = Annotated[
    Path | None,
    typer.Option("--data", help="Directory of the hub's state; else ~/.local/share/muster.", show_default=False),
]


Host = Annotated[str, typer.Option("--host", help="Address to listen on; loopback unless told otherwise.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 takes a free one.")]
Demo = Annotated[bool, typer.Option("--demo", help="Fill an empty hub with a demo fleet.")]
Supervised = Annotated[bool, typer.Option("--supervised", hidden=True)]
Names = Annotated[list[str] | None, typer.Option("--tls-name", help="Another name for the generated certificate.")]
Certificate = Annotated[Path | None, typer.Option("--tls-cert", help="Certificate to use instead.", show_default=False)]
Key = Annotated[Path | None, typer.Option("--tls-key", help="Its key.", show_default=False)]
Authority = Annotated[Path | None, typer.Option("--tls-ca", help="Whom clients trust for it.", show_default=False)]
Anonymous = Annotated[bool, typer.Option("--anonymous", help="Serve requests without credentials, on loopback.")]
StrictNames = Annotated[
    bool, typer.Option("--strict-names", help="resourceNames never allow a create, as in plain Kubernetes.")
]
LeaseNamespace = Annotated[str, typer.Option("--lease-namespace", help="Where the lease of the leader is kept.")]
DefaultSet = Annotated[
    bool,
    typer.Option(
        "--default-cluster-set/--no-default-cluster-set",
        help="Clusters that name no set are labelled with the set default; --no-default-cluster-set leaves them alone.",
    ),
]
DeniedKeys = Annotated[
    list[str] | None,
    typer.Option(
        "--denied-key",
        help="An exclusive key that no set may have, or a domain of keys (kubernetes.io/); several are taken.",
        show_default=False,
    ),
]
Audit = Annotated[AuditLevel, typer.Option("--audit", help="What the audit log records.")]
Classifications = Annotated[
    WarnOrRefuse,
    typer.Option("--classification-admission", help="Warn of classifications whose query does not compile, or refuse."),
]
Placements = Annotated[
    WarnOrRefuse, typer.Option("--placement-admission", help="What happens to a misconfigured placement.")
]
Catalogs = Annotated[
    list[str] | None,
    typer.Option(
        "--catalog",
        help="NAME=PATH: a catalog of operators that Resolutions may name; several are taken.",
        show_default=False,
    ),
]


ControllersMemory = Annotated[
    int | None,
    typer.Option(
        "--controllers-memory",
        min=0,
        help="MiB of memory at which the controllers are started anew; 0 for no limit. "
        "Else a quarter of the machine's, at least 2048.",
        show_default=False,
    ),
]
ControllersPatience = Annotated[
    float,
    typer.Option("--controllers-patience", min=1.0, help="Seconds without progress after which they are."),
]
VitalsFile = Annotated[Path | None, typer.Option("--vitals", hidden=True)]


@app.callback()
def _hub() -> None:
    """Run the hub, back it up, restore it, ask how it is."""


@app.command()
@takes(HubLimits)
def run(
    limits: HubLimits,
    data: NewData = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    demo: Demo = False,
    tls_name: Names = None,
    tls_cert: Certificate = None,
    tls_key: Key = None,
    tls_ca: Authority = None,
    anonymous: Anonymous = False,
    strict_names: StrictNames = False,
    default_cluster_set: DefaultSet = True,
    denied_key: DeniedKeys = None,
    audit: Audit = AuditLevel.WRITES,
    placement_admission: Placements = WarnOrRefuse.WARN,
    classification_admission: Classifications = WarnOrRefuse.WARN,
    catalog: Catalogs = None,
    controllers_memory: ControllersMemory = None,
    controllers_patience: ControllersPatience = 20.0,
) -> None:
    """Run the API server and the controllers until Ctrl-C or SIGTERM; either is started again when it dies."""
    import asyncio

    from muster.app import default_directory
    from muster.cli.hub.controllers_process import ControllersProcess
    from muster.cli.hub.supervisor import Part, supervise

    _log_to_stderr()
    directory = data or default_directory()
    announced = _Announcement(demo, port)
    shared = ["--data", str(directory), "--supervised"]
    catalogs = (f"{name}={path}" for name, path in named_catalogs(catalog).items())
    options = [*shared, *(part for each in catalogs for part in ("--catalog", each))]
    options += arguments(limits, ControllersLimits)
    memory = None if controllers_memory is None else controllers_memory * 2**20
    beside = ControllersProcess(directory, options, _identity(), memory, controllers_patience)

    def server() -> list[str]:
        # The port that was found free at the first start stays: clients know it by now.
        options = ["--host", host, "--port", str(announced.port)]
        options += ["--audit", audit.value, "--placement-admission", placement_admission.value]
        options += ["--classification-admission", classification_admission.value]
        options += [part for name in tls_name or () for part in ("--tls-name", name)]
        files = {"--tls-cert": tls_cert, "--tls-key": tls_key, "--tls-ca": tls_ca}
        options += [part for option, file in files.items() if file is not None for part in (option, str(file))]
        options += ["--anonymous"] if anonymous else []
        options += ["--strict-names"] if strict_names else []
        options += [] if default_cluster_set else ["--no-default-cluster-set"]
        options += [part for key in denied_key or () for part in ("--denied-key", key)]
        options += arguments(limits, ServerLimits)
        options += ["--vitals", str(beside.vitals)]
        return ["hub", "serve", *shared, *options, *(["--demo"] if demo else [])]

    if demo:
        sys.stdout.write("loading the demo fleet …\n")
        sys.stdout.flush()
    with running(directory):
        code = asyncio.run(
            supervise(
                Part("the API server", server, announced.server_ready),
                beside.part(announced.controllers_ready),
            )
        )
    if code:
        raise typer.Exit(code)
    sys.stdout.write("stopped; everything acknowledged is on disk\n")


@app.command()
@takes(ServerLimits)
def serve(
    limits: ServerLimits,
    data: NewData = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    demo: Demo = False,
    tls_name: Names = None,
    tls_cert: Certificate = None,
    tls_key: Key = None,
    tls_ca: Authority = None,
    anonymous: Anonymous = False,
    strict_names: StrictNames = False,
    default_cluster_set: DefaultSet = True,
    denied_key: DeniedKeys = None,
    audit: Audit = AuditLevel.WRITES,
    placement_admission: Placements = WarnOrRefuse.WARN,
    classification_admission: Classifications = WarnOrRefuse.WARN,
    supervised: Supervised = False,
    vitals: VitalsFile = None,
) -> None:
    """Run the API server alone."""
    import uvloop

    from muster.admission import Settings as AdmissionSettings
    from muster.app import HubSettings, default_directory, run_hub
    from muster.demo import Fleet
    from muster.hub.access import AccessSettings
    from muster.selectors.cel import CEL_LIMITS

    _log_to_stderr()
    CEL_LIMITS.value = limits.expressions
    access = AccessSettings(
        anonymous=anonymous,
        strict_names=strict_names,
        users=limits.users,
        audit=replace(limits.audit, level=audit),
        admission=AdmissionSettings(
            refuse_placements=placement_admission is WarnOrRefuse.REFUSE,
            refuse_queries=classification_admission is WarnOrRefuse.REFUSE,
            default_cluster_set=default_cluster_set,
            denied_keys=tuple(denied_key or ()),
            cel_limits=limits.expressions,
        ),
    )
    settings = HubSettings(
        data or default_directory(),
        host,
        port,
        Fleet() if demo else None,
        access,
        tuple(tls_name or ()),
        tls_cert,
        tls_key,
        tls_ca,
        requests=limits.requests,
        objects=limits.objects,
        store=limits.store,
        vitals=vitals,
    )

    def announce(running: Running) -> None:
        if supervised:
            _say_ready(url=running.url, kubeconfig=str(running.kubeconfig), objects=running.objects)
        else:
            _Announcement(False, port).server_ready(
                {"url": running.url, "kubeconfig": str(running.kubeconfig), "objects": running.objects}
            )

    uvloop.run(_while_wanted(run_hub(settings, announce), supervised))


@app.command()
@takes(ControllersLimits)
def controllers(
    limits: ControllersLimits,
    data: NewData = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
    lease_namespace: LeaseNamespace = "kube-system",
    identity: Annotated[str, typer.Option("--identity", hidden=True)] = "",
    succeeds: Annotated[str, typer.Option("--succeeds", hidden=True)] = "",
    catalog: Catalogs = None,
    supervised: Supervised = False,
    vitals: VitalsFile = None,
    set_aside: Annotated[str, typer.Option("--set-aside", hidden=True)] = "",
) -> None:
    """Run the controllers alone, against the hub in --data or the server of a kubeconfig. One of several leads."""
    import uvloop

    from muster.app import CONTROLLERS_KUBECONFIG, default_directory
    from muster.classification.outcomes import QUERY_LIMITS
    from muster.client import Candidate, load_connection
    from muster.controllers.manager import Manager, Options, run_controllers
    from muster.controllers.permissions import COLLECTOR
    from muster.controllers.questions.asking import CONTROLLERS_ADDRESS
    from muster.controllers.runtime.quarantine import read_entries
    from muster.questions.observer import Observer
    from muster.selectors.cel import CEL_LIMITS
    from muster.supervision import Vitals

    _log_to_stderr()
    CEL_LIMITS.value, QUERY_LIMITS.value = limits.expressions, limits.queries
    directory = None if kubeconfig or context else data or default_directory()
    catalogs = named_catalogs(catalog)
    # Beside a hub all candidates are on one machine or near it, and a lease of 3 s makes fail-over quick; elsewhere
    # these are the numbers that Kubernetes' own components use.
    patience = (3.0, 2.0, 0.75) if directory is not None else (15.0, 10.0, 2.0)
    candidate = Candidate("muster-controllers", identity or _identity(), lease_namespace, succeeds, *patience)

    watched: JsonObject = {
        "vitals": None if vitals is None else Vitals.open(vitals),
        "set_aside": read_entries(set_aside),
        "namespace": lease_namespace,
    }

    def ready(manager: Manager) -> None:
        if supervised:
            _say_ready(clusters=len(manager.world.fleet))
        else:
            sys.stdout.write(f"controllers are running over {len(manager.world.fleet)} clusters\n")
            sys.stdout.flush()

    async def work() -> None:
        if directory is None:
            # A Kubernetes server collects garbage itself.
            elsewhere = Options(candidate, catalogs=catalogs, **watched)
            await run_controllers(await load_connection(context, kubeconfig), ready, elsewhere)
            return
        file = str(directory / CONTROLLERS_KUBECONFIG)
        collector = await load_connection(COLLECTOR, file)
        options = Options(
            candidate, collector, directory / CONTROLLERS_ADDRESS, catalogs=catalogs, observer=Observer, **watched
        )
        await run_controllers(await load_connection(None, file), ready, options)

    uvloop.run(_while_wanted(work(), supervised))


def _identity() -> str:
    """Who we are to other candidates: nobody else is called so, not even we after a restart."""
    import secrets
    import socket

    return f"{socket.gethostname()}_{secrets.token_hex(8)}"


class _Announcement:
    """Prints where the hub is and, of a demo, what to try: once, and of a demo when its first decisions are there.

    A restart is the log's business.
    """

    def __init__(self, demo: bool, port: int) -> None:
        self._demo = demo
        self._said: JsonObject = {}
        self._task: Json = None
        self.port = port

    def server_ready(self, said: JsonObject) -> None:
        self.port = int(said["url"].rpartition(":")[2])
        if self._said:
            return
        self._said = said
        if self._demo:
            sys.stdout.write(f"the API server is at {said['url']}; waiting for the first decisions …\n")
            sys.stdout.flush()
        else:
            self._print("")

    def controllers_ready(self, _: JsonObject) -> None:
        import asyncio

        if self._demo and self._task is None:
            self._task = asyncio.ensure_future(self._once_decided())

    async def _once_decided(self) -> None:
        from muster.cli.hub import first_steps

        found = await first_steps.decided(Path(self._said["kubeconfig"]))
        if found is None:
            sys.stdout.write("some of the demo's objects are not decided yet; the log above may say why\n")
        self._print(first_steps.text())

    def _print(self, more: str) -> None:
        path = Path(self._said["kubeconfig"]).resolve()
        sys.stdout.write(
            f"muster hub at {self._said['url']}, {self._said['objects']} objects\nexport KUBECONFIG={path}{more}\n"
        )
        sys.stdout.flush()


def _say_ready(**facts: Any) -> None:
    """Tell the supervisor."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


async def _while_wanted(work: Coroutine[Any, Any, None], supervised: bool) -> None:
    """Do the work until a signal comes or, under a supervisor, until the supervisor is gone."""
    import asyncio
    import contextlib
    import signal

    loop = asyncio.get_running_loop()
    task = asyncio.create_task(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    if supervised:
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        orphaned = asyncio.create_task(reader.read())
        orphaned.add_done_callback(lambda _: task.cancel())
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _log_to_stderr() -> None:
    import logging

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")


@app.command()
def stop(
    data: Data = None,
    wait: Annotated[float, typer.Option("--wait", min=0, help="Seconds to wait for it to end.")] = 60.0,
) -> None:
    """End the hub that runs in a directory of this machine, and wait for it."""
    import os
    import signal
    import time

    directory = chosen(data)
    number = process(directory)
    if number is None:
        sys.stdout.write(f"no hub runs in {directory}\n")
        raise typer.Exit(int(Exit.NO))
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, signal.SIGTERM)
    deadline = time.monotonic() + wait
    while process(directory) is not None:
        if time.monotonic() > deadline:
            sys.stdout.write(f"the hub in {directory}, process {number}, has not ended after {wait:g} s\n")
            raise typer.Exit(int(Exit.SERVER_TROUBLE))
        time.sleep(0.05)
    sys.stdout.write(f"stopped the hub in {directory}; everything acknowledged is on disk\n")


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="Where to write the backup; must not exist.")],
    data: Data = None,
) -> None:
    """Write a consistent copy of the database while the hub runs, or while it does not."""
    from muster.app import DATABASE
    from muster.hub.storage import back_up

    with _ending_in_order():
        back_up(chosen_aloud(data) / DATABASE, file)
    sys.stdout.write(f"backed up to {file}\n")


@contextlib.contextmanager
def _ending_in_order() -> Iterator[None]:
    """A signal to end is an exception while this lasts: what is half made is removed on the way out."""
    import signal

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="The backup.")],
    data: Data = None,
) -> None:
    """Replace the database of a stopped hub by a backup. The present one is kept beside it."""
    from muster.app import DATABASE
    from muster.hub.storage import restore as restore_database

    directory = chosen(data)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _ending_in_order():
        restored = restore_database(file, directory / DATABASE)
    sys.stdout.write(f"restored {restored.objects} objects\n")
    _say_leap(restored)


@app.command()
def repair(
    accept: Annotated[
        bool, typer.Option("--accept-loss", help="Go on with what is there; what is missing is given up for good.")
    ] = False,
    data: Data = None,
) -> None:
    """Say what the database of a stopped hub has lost and, if told to, go on without it. What was there is kept."""
    from muster.app import DATABASE
    from muster.hub.storage import accept_loss, examine
    from muster.hub.upgrades import today

    path = chosen(data) / DATABASE
    if not accept:
        extent = examine(path, today())
        sys.stdout.write(
            f"{path}: {extent.objects} objects at revision {extent.revision}; everything acknowledged is there\n"
        )
        return
    kept = accept_loss(path)
    sys.stdout.write(f"going on with {kept.objects} objects\n")
    _say_leap(kept)


def _say_leap(restored: Restored) -> None:
    sys.stdout.write(
        f"revisions leap ahead: the next one is {restored.revision + 1}, beyond all that were ever seen; "
        "clients list again\n"
    )
    if restored.replaced is not None:
        sys.stdout.write(f"what was there before is kept as {restored.replaced}\n")


@app.command()
def status(
    output: Annotated[str, typer.Option("--output", "-o", help="text or json.")] = "text",
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Whether the server of the kubeconfig is ready, and what it holds."""

    async def work(client: Client) -> JsonObject:
        version = (await client.request("GET", "/version")).json()
        try:
            checks = (await client.request("GET", "/readyz", params={"verbose": ""}, accept="*/*")).body.decode()
        except ApiError as error:
            checks = error.message  # what is wrong
        counts = {}
        for resource in (await client.discover()).resources:
            if resource.plural in _COUNTED:
                page = (await client.request("GET", resource.path(), params={"limit": "1"})).json()
                metadata = page["metadata"]
                counts[resource.plural] = len(page["items"]) + metadata.get("remainingItemCount", 0)
        return {
            "server": client.connection.server,
            "version": version.get("gitVersion", ""),
            "ready": "check passed" in checks,
            "problems": [line.removeprefix("[-]") for line in checks.splitlines() if line.startswith("[-]")],
            "objects": counts,
        }

    found = with_client(work, context, kubeconfig)
    if output == "json":
        print_json(found)
    else:
        state = "ready" if found["ready"] else "not ready"
        sys.stdout.write(f"{found['server']} is {state}, version {found['version']}\n")
        for problem in found["problems"]:
            sys.stdout.write(f"  {problem}\n")
        for name, count in found["objects"].items():
            sys.stdout.write(f"  {count:>8} {name}\n")
    if not found["ready"]:
        raise typer.Exit(int(Exit.SERVER_TROUBLE))


_COUNTED = ("managedclusters", "managedclustersets", "placements", "placementdecisions", "agents", "namespaces")
