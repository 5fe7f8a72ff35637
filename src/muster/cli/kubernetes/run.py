"""`muster kubernetes run`: the program in our Pods. Controllers under one lease; webhooks and questions on each."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from muster.cli.hub.options import Catalogs  # noqa: TC001 - typer reads annotations at run time
from muster.cli.hub.processes import Supervised  # noqa: TC001
from muster.cli.inputs.catalogs import named_catalogs
from muster.cli.inputs.limits import ControllersLimits, arguments, takes
from muster.cli.inputs.options import Context, Kubeconfig  # noqa: TC001
from muster.cli.kubernetes.processes import (
    CONTROLLERS,
    SERVING,
    Controlling,
    log_to_stderr,
    run_controlling,
    run_serving,
    run_supervised,
)

_PORTS: Final = "Ports"
_PROCESSES: Final = "Processes"
LEASE_NAME: Final = "muster-controllers"


class Mode(StrEnum):
    """Whose the fleet is: ours alone; placements beside somebody else's controller, or in its place."""

    ALONE = "alone"
    BESIDE = "beside"
    INSTEAD = "instead"


class LogLevel(StrEnum):
    """How much is told."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def _port(name: str, help_: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        name, min=0, max=65535, metavar="PORT", help=help_, rich_help_panel=_PORTS
    )
    return option


Home = Annotated[
    str,
    typer.Option(
        "--namespace",
        metavar="NAMESPACE",
        help="Where the lease, the Secret with certificates and the quarantine are kept: our own namespace.",
        envvar="POD_NAMESPACE",
    ),
]
Memory = Annotated[
    int | None,
    typer.Option(
        "--memory",
        min=0,
        metavar="MIB",
        help="MiB at which the controllers are started anew; 0 for no limit. Else three quarters of the Pod's limit.",
        show_default=False,
        rich_help_panel=_PROCESSES,
    ),
]
Patience = Annotated[
    float,
    typer.Option(
        "--patience",
        min=1.0,
        metavar="SECONDS",
        help="Seconds without progress after which they are.",
        rich_help_panel=_PROCESSES,
    ),
]
Part = Annotated[str, typer.Option("--part", hidden=True)]
State = Annotated[Path | None, typer.Option("--state", hidden=True)]
VitalsFile = Annotated[Path | None, typer.Option("--vitals", hidden=True)]
Identity = Annotated[str, typer.Option("--identity", hidden=True)]
Succeeds = Annotated[str, typer.Option("--succeeds", hidden=True)]
SetAside = Annotated[str, typer.Option("--set-aside", hidden=True)]


@takes(ControllersLimits)
def command(
    limits: ControllersLimits,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
    namespace: Home = "muster-system",
    mode: Annotated[
        Mode,
        typer.Option(
            "--mode",
            help="alone: all controllers are ours. beside: only placements annotated muster.dev/scheduler=muster. "
            "instead: only the placement controller, in the place of Open Cluster Management's.",
        ),
    ] = Mode.ALONE,
    webhooks: Annotated[bool, typer.Option("--webhooks/--no-webhooks", help="Serve admission and conversion.")] = True,
    questions: Annotated[
        bool, typer.Option("--questions/--no-questions", help="Serve the questions of fleet.muster.dev.")
    ] = False,
    cluster_profiles: Annotated[
        bool,
        typer.Option(
            "--cluster-profiles",
            help="Keep a ClusterProfile for each cluster in each namespace that a set of it is bound to.",
        ),
    ] = False,
    certificates: Annotated[
        Path | None,
        typer.Option(
            "--certificates",
            metavar="DIRECTORY",
            help="tls.crt, tls.key and ca.crt that somebody else renews (cert-manager); else our own, in a Secret.",
            show_default=False,
        ),
    ] = None,
    log_level: Annotated[LogLevel, typer.Option("--log-level", help="How much to tell.")] = LogLevel.INFO,
    catalog: Catalogs = None,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.", rich_help_panel=_PORTS)
    ] = "0.0.0.0",  # noqa: S104 - the API server comes from elsewhere
    webhook_port: Annotated[int, _port("--webhook-port", "Webhooks, HTTPS.")] = 9443,
    questions_port: Annotated[int, _port("--questions-port", "Questions, HTTPS behind the API server.")] = 6443,
    health_port: Annotated[int, _port("--health-port", "Health and metrics, HTTP.")] = 8080,
    drain: Annotated[
        float,
        typer.Option(
            "--drain",
            min=0.0,
            metavar="SECONDS",
            help="Seconds for which webhooks and questions are answered after SIGTERM.",
            rich_help_panel=_PROCESSES,
        ),
    ] = 3.0,
    memory: Memory = None,
    patience: Patience = 20.0,
    supervised: Supervised = False,
    part: Part = "",
    state: State = None,
    vitals: VitalsFile = None,
    identity: Identity = "",
    succeeds: Succeeds = "",
    set_aside: SetAside = "",
) -> None:
    """Run controllers, webhooks and questions against a Kubernetes server, until SIGTERM. One replica of several leads.

    The server is that of --kubeconfig and --context, else of $KUBECONFIG, else the one whose Pod this is, else of
    ~/.kube/config. A process that dies is started again; a lease that is lost is waited for.

    Examples:
      muster kubernetes run --namespace muster-system --questions
      muster kubernetes run --kubeconfig my-cluster --no-webhooks --mode beside --health-port 9090
    """
    from muster.controllers.duties import ALONE, BESIDE, INSTEAD

    log_to_stderr(log_level.value)
    if mode is Mode.INSTEAD:
        webhooks = questions = False  # within the role that it finds, there is nothing that it could serve
    if not part:
        told = [f"--namespace={namespace}", f"--mode={mode.value}", f"--log-level={log_level.value}"]
        told += ["--webhooks" if webhooks else "--no-webhooks", "--questions" if questions else "--no-questions"]
        told += [f"--host={host}", f"--webhook-port={webhook_port}", f"--questions-port={questions_port}"]
        told += [f"--health-port={health_port}", f"--drain={drain}"]
        told += ["--cluster-profiles"] if cluster_profiles else []
        told += [f"--certificates={certificates}"] if certificates else []
        told += [f"--kubeconfig={kubeconfig}"] if kubeconfig else []
        told += [f"--context={context}"] if context else []
        told += [f"--catalog={name}={path}" for name, path in named_catalogs(catalog).items()]
        told += arguments(limits, ControllersLimits)
        run_supervised(("kubernetes", "run"), told, memory, patience, os.environ.get("POD_NAME", ""))
        return
    home = state or Path.cwd()
    if part == SERVING:
        from muster.kubernetes.serving.replica import ReplicaSettings
        from muster.kubernetes.settings import settings_from

        serves = {"webhooks": webhooks, "questions": questions, "certManager": certificates is not None}
        settings = settings_from({**serves, "mode": mode.value, "namespace": namespace})
        run_serving(
            context,
            kubeconfig,
            ReplicaSettings(
                settings,
                home,
                host,
                webhook_port,
                questions_port,
                health_port,
                certificates=certificates,
                vitals=vitals,
                drain=drain,
            ),
            supervised,
        )
    elif part == CONTROLLERS:
        from muster.classification.outcomes import QUERY_LIMITS
        from muster.selectors.cel import CEL_LIMITS

        CEL_LIMITS.value, QUERY_LIMITS.value = limits.expressions, limits.queries
        duties = {Mode.ALONE: ALONE, Mode.BESIDE: BESIDE, Mode.INSTEAD: INSTEAD}[mode]
        run_controlling(
            context,
            kubeconfig,
            Controlling(
                duties,
                namespace,
                LEASE_NAME,
                home,
                questions,
                named_catalogs(catalog),
                identity,
                succeeds,
                vitals,
                set_aside,
                cluster_profiles,
            ),
            supervised,
        )
    else:
        raise typer.BadParameter(f"there is no part {part!r}")
