"""The options of the API server, once: `muster hub run` takes them and hands them on, `muster hub serve` obeys them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from muster.cli.inputs.limits import HubLimits, ServerLimits, limit_options
from muster.cli.inputs.option_groups import option_infos
from muster.hub.audit import AuditLevel

if TYPE_CHECKING:
    from muster.app import HubSettings

_TLS: Final = "Certificate"
_RULES: Final = "Rules"
_CONTROLLERS: Final = "Controllers"


class WarnOrRefuse(StrEnum):
    """What happens to an object that is valid and cannot work."""

    WARN = "warn"
    REFUSE = "refuse"


NewData = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIRECTORY",
        help="Directory of the hub's state; else ~/.local/share/muster.",
        show_default=False,
        envvar="MUSTER_DATA",
    ),
]
Catalogs = Annotated[
    list[str] | None,
    typer.Option(
        "--catalog",
        metavar="NAME=PATH",
        help="A catalog of operators that Resolutions may name; several are taken.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Where the API server listens, whom it trusts, and by which rules."""

    data: NewData = None
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on; loopback unless told otherwise.")
    ] = "127.0.0.1"
    port: Annotated[
        int,
        typer.Option("--port", min=0, max=65535, metavar="PORT", help="Port to listen on; 0 takes a free one."),
    ] = 0
    demo: Annotated[bool, typer.Option("--demo", help="Fill an empty hub with a demo fleet.")] = False
    tls_name: Annotated[
        list[str] | None,
        typer.Option(
            "--tls-name", metavar="NAME", help="Another name for the generated certificate.", rich_help_panel=_TLS
        ),
    ] = None
    tls_cert: Annotated[
        Path | None,
        typer.Option("--tls-cert", help="Certificate to use instead.", show_default=False, rich_help_panel=_TLS),
    ] = None
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", help="Its key.", show_default=False, rich_help_panel=_TLS)
    ] = None
    tls_ca: Annotated[
        Path | None,
        typer.Option("--tls-ca", help="Whom clients trust for it.", show_default=False, rich_help_panel=_TLS),
    ] = None
    anonymous: Annotated[
        bool,
        typer.Option("--anonymous", help="Serve requests without credentials, on loopback.", rich_help_panel=_RULES),
    ] = False
    strict_names: Annotated[
        bool,
        typer.Option(
            "--strict-names",
            help="resourceNames never allow a create, as in plain Kubernetes.",
            rich_help_panel=_RULES,
        ),
    ] = False
    default_cluster_set: Annotated[
        bool,
        typer.Option(
            "--default-cluster-set/--no-default-cluster-set",
            help="Clusters that name no set are labelled with the set default, or left alone.",
            rich_help_panel=_RULES,
        ),
    ] = True
    taint_on_join: Annotated[
        bool,
        typer.Option(
            "--taint-on-join",
            help="New clusters get no work until they are ready: accepted, available, and their version is known.",
            rich_help_panel=_RULES,
        ),
    ] = False
    denied_key: Annotated[
        list[str] | None,
        typer.Option(
            "--denied-key",
            metavar="KEY",
            help="An exclusive key that no set may have, or a domain of keys (kubernetes.io/); several are taken.",
            show_default=False,
            rich_help_panel=_RULES,
        ),
    ] = None
    audit: Annotated[
        AuditLevel, typer.Option("--audit", help="What the audit log records.", rich_help_panel=_RULES)
    ] = AuditLevel.WRITES
    placement_admission: Annotated[
        WarnOrRefuse,
        typer.Option(
            "--placement-admission", help="What happens to a misconfigured placement.", rich_help_panel=_RULES
        ),
    ] = WarnOrRefuse.WARN
    classification_admission: Annotated[
        WarnOrRefuse,
        typer.Option(
            "--classification-admission",
            help="What happens to a classification whose query does not compile.",
            rich_help_panel=_RULES,
        ),
    ] = WarnOrRefuse.WARN


class Registration(StrEnum):
    """Which clusters get what an agent needs: a namespace, rights and a lease."""

    AGENTS = "agents"
    ALL = "all"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class FleetOptions:
    """What the controllers do about clusters that join."""

    registration: Annotated[
        Registration,
        typer.Option(
            "--registration",
            help="Which accepted clusters get a namespace, rights and a lease: those whose agent has asked, all, "
            "or none because somebody else's controllers do that.",
            rich_help_panel=_CONTROLLERS,
        ),
    ] = Registration.AGENTS
    cluster_profiles: Annotated[
        bool,
        typer.Option(
            "--cluster-profiles",
            help="Keep a ClusterProfile for each cluster in each namespace that a set of it is bound to.",
            rich_help_panel=_CONTROLLERS,
        ),
    ] = False


def hub_settings(options: ServerOptions, limits: ServerLimits, vitals: Path | None) -> HubSettings:
    """What the API server is started with."""
    from muster.admission import Settings as AdmissionSettings
    from muster.app import HubSettings
    from muster.demo import Fleet
    from muster.hub.access import AccessSettings
    from muster.hub.directory import default_directory

    access = AccessSettings(
        anonymous=options.anonymous,
        strict_names=options.strict_names,
        users=limits.users,
        audit=replace(limits.audit, level=options.audit),
        admission=AdmissionSettings(
            refuse_placements=options.placement_admission is WarnOrRefuse.REFUSE,
            refuse_queries=options.classification_admission is WarnOrRefuse.REFUSE,
            default_cluster_set=options.default_cluster_set,
            denied_keys=tuple(options.denied_key or ()),
            taint_on_join=options.taint_on_join,
            cel_limits=limits.expressions,
        ),
    )
    return HubSettings(
        options.data or default_directory(),
        options.host,
        options.port,
        Fleet() if options.demo else None,
        access,
        tuple(options.tls_name or ()),
        options.tls_cert,
        options.tls_key,
        options.tls_ca,
        requests=limits.requests,
        objects=limits.objects,
        store=limits.store,
        vitals=vitals,
    )


#: Options of the processes that are not the server's, as the settings file may name them.
_OF_OTHERS: Final = (
    "catalog",
    "console",
    "controllers-memory",
    "controllers-patience",
    "lease-namespace",
    "no-console",
)


def option_names() -> frozenset[str]:
    """What the settings file may say about the hub: every option but its directory, without dashes in front."""
    infos = [*option_infos(ServerOptions).values(), *option_infos(FleetOptions).values()]
    declared = [str(info.default) for info in infos]
    declared += [str(each) for info in infos for each in info.param_decls or ()]
    server = {each.partition("/")[0].lstrip("-") for each in declared if each.startswith("--")}
    limits = {option.lstrip("-") for option in limit_options(HubLimits)}
    return frozenset(server - {"data", "demo"} | limits | set(_OF_OTHERS))
