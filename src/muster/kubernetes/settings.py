"""How the Kubernetes home is set up: one frozen struct, and the names of things that several objects refer to.

Manifests, the chart's values and `muster kubernetes install` all start from it; the chart's values have the same names,
in camel case. It knows no objects.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import Meta

from muster import __version__
from muster.errors import InvalidObjectError
from muster.values.json import Json, JsonMapping, JsonObject
from muster.values.names import dns_label_problems, subdomain_problems
from muster.values.nearest import nearest

NAME: Final = "muster"  # of the Deployment, the Service, the ServiceAccount and what belongs to them
SECRET: Final = "muster-serving"  # noqa: S105 - the name of the Secret with the certificates of webhooks and questions
WEBHOOK_PORT: Final = 9443
QUESTIONS_PORT: Final = 6443
HEALTH_PORT: Final = 8080

Crds = Literal["ours", "upstream", "none"]
Mode = Literal["alone", "instead", "beside"]
LogLevel = Literal["debug", "info", "warning", "error"]


class Resources(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What one Pod asks for, and what it may use at most."""

    cpu: Annotated[str, Meta(description="Processors that are kept free for a Pod.")] = "200m"
    memory: Annotated[str, Meta(description="Memory that is kept free for a Pod.")] = "256Mi"
    cpu_limit: Annotated[str, Meta(description="Processors that a Pod uses at most.")] = "2"
    memory_limit: Annotated[str, Meta(description="Memory that a Pod uses at most; above it the Pod is killed.")] = (
        "1Gi"
    )


class HomeSettings(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Everything that can be said about an installation. The defaults are for a cluster of one's own."""

    namespace: Annotated[str, Meta(description="Where our Pods run; the chart takes the release's instead.")] = (
        "muster-system"
    )
    image: Annotated[str, Meta(description="The image of our Pods.")] = f"ghcr.io/muster-hub/muster:{__version__}"
    replicas: Annotated[int, Meta(ge=0, le=100, description="How many Pods; one leads, all answer webhooks.")] = 2
    crds: Annotated[
        Crds,
        Meta(
            description="Whose definitions of kinds: ours; upstream (Open Cluster Management's are expected, and only "
            "kinds that are ours alone are installed); none."
        ),
    ] = "ours"
    policies: Annotated[bool, Meta(description="Permissions as policies in the API server.")] = True
    webhooks: Annotated[
        bool, Meta(description="Checks by our Pods: what policies cannot say, warnings, conversion of cluster sets.")
    ] = True
    questions: Annotated[
        bool, Meta(description="The questions of fleet.muster.dev as an APIService, answered by our Pods.")
    ] = False
    monitoring: Annotated[bool, Meta(description="ServiceMonitor and PrometheusRule, for the Prometheus operator.")] = (
        False
    )
    console: Annotated[
        str, Meta(description="The https URL of the console behind an ingress; none is installed without one.")
    ] = ""
    sync: Annotated[
        bool, Meta(description="Pods that look at imported clusters and keep them true, with their credentials.")
    ] = False
    registration: Annotated[
        bool, Meta(description="Pods that let clusters in whose agents ask, where Open Cluster Management does not.")
    ] = False
    cluster_profiles: Annotated[
        bool, Meta(description="A ClusterProfile for each cluster in each namespace that a set of it is bound to.")
    ] = False
    cert_manager: Annotated[bool, Meta(description="Certificates by cert-manager instead of our own.")] = False
    mode: Annotated[
        Mode,
        Meta(
            description="alone: all controllers are ours; instead: only placements, in the place of Open Cluster "
            "Management's controller; beside: only placements that name us as their scheduler."
        ),
    ] = "alone"
    log_level: Annotated[LogLevel, Meta(description="How much our Pods tell.")] = "info"
    network_policy: Annotated[bool, Meta(description="Nobody else reaches our Pods, and they nobody else.")] = True
    resources: Annotated[Resources, Meta(description="Requests and limits of a Pod.")] = Resources()
    pod: Annotated[
        JsonObject,
        Meta(description="More of the Pod's spec, as it is: nodeSelector, tolerations, imagePullSecrets, affinity."),
    ] = msgspec.field(default_factory=dict)

    @property
    def has_webhooks(self) -> bool:
        """Whether our Pods answer webhooks. Instead of another's placement controller they answer nobody."""
        return self.webhooks and self.mode != "instead"

    @property
    def has_questions(self) -> bool:
        """Whether our Pods answer questions about the fleet."""
        return self.questions and self.mode != "instead"

    @property
    def needs_serving(self) -> bool:
        """Whether our Pods are called by the API server, which takes certificates."""
        return self.has_webhooks or self.has_questions


DEFAULTS: Final = HomeSettings()
RESERVED_POD_FIELDS: Final = frozenset(
    {"containers", "serviceAccountName", "securityContext", "volumes", "topologySpreadConstraints"}
)


def settings_from(values: JsonMapping, base: HomeSettings = DEFAULTS) -> HomeSettings:
    """The settings with these values, named as in the chart. Raises InvalidObjectError with the name that is wrong."""
    return checked(_converted(_merged(msgspec.to_builtins(base), values, "")))


def parsed_assignment(text: str) -> JsonObject:
    """`resources.memory=512Mi` as a value within values. Numbers, booleans and JSON are read as such."""
    name, equals, written = text.partition("=")
    if not equals or not name:
        raise InvalidObjectError("--set", f"{text!r} is not of the form name=value")
    value: Json = _scalar(name, written)
    for part in reversed(name.split(".")):
        value = {part: value}
    found: JsonObject = value
    return found


def changed_values(settings: HomeSettings) -> JsonObject:
    """What of the settings is not as usual, named as in the chart: what an upgrade starts from."""
    usual = msgspec.to_builtins(DEFAULTS)
    return {name: value for name, value in msgspec.to_builtins(settings).items() if value != usual[name]}


def checked(settings: HomeSettings) -> HomeSettings:
    """The settings, if their parts go together. Raises InvalidObjectError."""
    if problems := dns_label_problems(settings.namespace):
        raise InvalidObjectError("namespace", f"{settings.namespace!r} is not the name of a namespace: {problems[0]}")
    if not settings.image or settings.image != settings.image.strip():
        raise InvalidObjectError("image", "an image must be named")
    if settings.console and not _is_origin(settings.console):
        raise InvalidObjectError("console", "give the URL that browsers use: https://NAME, in small letters, no path")
    if settings.mode != "alone" and (settings.registration or settings.cluster_profiles):
        name = "registration" if settings.registration else "clusterProfiles"
        raise InvalidObjectError(name, "beside or instead of its parts, Open Cluster Management does that itself")
    if taken := sorted(RESERVED_POD_FIELDS & set(settings.pod)):
        raise InvalidObjectError(
            "pod", f"{', '.join(taken)} of the Pod's spec are ours; only other fields can be added"
        )
    return settings


def _is_origin(url: str) -> bool:
    name = url.removeprefix("https://")
    return name != url and not subdomain_problems(name)


def _scalar(name: str, written: str) -> Json:
    """As JSON where a setting is not a text, else as it is: an image or a name may look like a number."""
    field = name.partition(".")[0]
    usual = msgspec.to_builtins(DEFAULTS).get(field)
    if isinstance(usual, str) or field == "resources":
        return written
    try:
        return msgspec.json.decode(written)
    except msgspec.DecodeError:
        return written


def _merged(base: JsonMapping, values: JsonMapping, path: str) -> JsonObject:
    merged = dict(base)
    for name, value in values.items():
        if not path and name not in base:
            close = nearest(name, list(base))
            hint = f": did you mean {' or '.join(close)}?" if close else f"; there are {', '.join(base)}"
            raise InvalidObjectError(name, f"there is no such setting{hint}")
        before = merged.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            merged[name] = _merged(before, value, f"{path}{name}.")
        else:
            merged[name] = value
    return merged


def _converted(values: JsonMapping) -> HomeSettings:
    try:
        return msgspec.convert(values, HomeSettings)
    except msgspec.ValidationError as error:
        told, _, path = str(error).rpartition(" - at `$")
        where = path.rstrip("`").lstrip(".")
        raise InvalidObjectError(where, _explained(told or str(error), where)) from None


def _explained(told: str, where: str) -> str:
    choices = {"crds": Crds, "mode": Mode, "logLevel": LogLevel}.get(where)
    return f"must be one of {', '.join(get_args(choices))}" if choices is not None else told[:1].lower() + told[1:]
