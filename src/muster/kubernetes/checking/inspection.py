"""Looks at a server: what is installed, whether it works, whose the kinds are, where the rules hold. Reads only.

What may not be read is named and leaves the rest as it is. `definitions` compares, `rules` is the table, `findings` are
the values that come out.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, get_args

import msgspec

from muster.api import RESOURCES
from muster.api.metadata import labels_of
from muster.controllers.permissions import LEASE
from muster.errors import ApiError
from muster.kubernetes.checking.definitions import Lacks, lacks, noticed, rules_at, schema_at
from muster.kubernetes.checking.findings import Enforced, Inspection, Kind, Part, Place
from muster.kubernetes.checking.rules import REFUSED_BY, RULES
from muster.kubernetes.installing.applying import is_true, rollout_words
from muster.kubernetes.installing.cluster import Cluster, ObjectId, id_of
from muster.kubernetes.installing.inventory import read_inventory
from muster.kubernetes.installing.notes import CORE_KINDS, PLACEMENTS
from muster.kubernetes.installing.owners import owner_of
from muster.kubernetes.installing.plan import NEWER_KINDS
from muster.kubernetes.manifests import objects
from muster.kubernetes.objects.crds import CRD, crd, is_ours_alone, kinds
from muster.kubernetes.settings import NAME, Crds, HomeSettings, Mode
from muster.values.faults import Fault
from muster.values.json import JsonMapping, JsonObject
from muster.values.json_members import list_at, object_at, text_at
from muster.values.times import parse_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.kubernetes.checking.rules import Rule
    from muster.kubernetes.installing.inventory import Inventory

_REGISTRATION: Final = "admissionregistration.k8s.io/v1"
_QUESTIONS: Final = "v1alpha1.fleet.muster.dev"
_CONFIGURATIONS: Final = frozenset(
    f"{plural}.admissionregistration.k8s.io"
    for plural in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
)
_FORBIDDEN: Final = (401, 403)
_SHOWN: Final = 3  # of what is missing
_STALE: Final = 60.0  # seconds without a renewal after which nobody leads


def _now() -> datetime:
    return datetime.now(UTC)


async def inspect(cluster: Cluster, namespace: str, clock: Callable[[], datetime] = _now) -> Inspection:
    """Look at everything. Raises ApiError only when the server answers nothing at all."""
    look = _Look(cluster, namespace, clock)
    return await look.all()


class _Look:
    """One look at one server; remembers what it was not allowed to see."""

    def __init__(self, cluster: Cluster, namespace: str, clock: Callable[[], datetime]) -> None:
        self._cluster = cluster
        self._home = namespace
        self._clock = clock
        self._unseen: list[str] = []
        self._definitions: dict[str, JsonMapping] = {}
        self._guards: dict[str, tuple[str, bool]] = {}  # our webhooks and others: policy of failure, whether certified
        self._answered = False

    async def all(self) -> Inspection:
        server = await self._cluster.version()
        inventory = await self._inventory()
        deployment = await self._get("apps/v1", "Deployment", NAME, self._home)
        version = _version(inventory, deployment)
        settings = await self._read_off(deployment) if inventory is None else inventory.settings
        self._answered = await self._is_answered()
        await self._read_webhooks()
        found_kinds = [await self._kind(key, settings) for key in _stored_kinds()]
        served = {kind.name for kind in found_kinds if kind.served}
        found_rules = [
            await self._rule(each, settings) for each in RULES if each.about in served and self._applies(each)
        ]
        return Inspection(
            server,
            self._home,
            version,
            _installer(inventory, deployment),
            self._remedy(version, settings, by_us=inventory is not None),
            await self._parts(inventory, deployment, settings),
            found_kinds,
            found_rules,
            self._unseen,
        )

    # ------------------------------------------------------------------------------------------------------- reading

    async def _get(self, api_version: str, kind: str, name: str, namespace: str = "") -> JsonObject | None:
        try:
            return await self._cluster.get(ObjectId(api_version, kind, namespace, name))
        except ApiError as error:
            if error.code not in _FORBIDDEN:
                raise
            self._unseen.append(str(ObjectId(api_version, kind, namespace, name)))
            return None

    async def _list(self, api_version: str, kind: str, namespace: str = "", labels: str = "") -> list[JsonObject]:
        resource = self._cluster.served(api_version, kind)
        if resource is None:
            return []
        params = {"labelSelector": labels} if labels else {}
        try:
            reply = await self._cluster.client.request("GET", resource.path(namespace), params=params)
        except ApiError as error:
            if error.code not in _FORBIDDEN:
                raise
            self._unseen.append(f"{resource.full_name}{f' in {namespace}' if namespace else ''}")
            return []
        return list_at(reply.json(), "items")

    async def _inventory(self) -> Inventory | None:
        try:
            return await read_inventory(self._cluster, self._home)
        except ApiError as error:
            if error.code not in _FORBIDDEN:
                raise
            self._unseen.append(f"ConfigMap {self._home}/muster-installation")
            return None

    async def _is_answered(self) -> bool:
        """Whether somebody ready is behind our Service."""
        slices = await self._list(
            "discovery.k8s.io/v1", "EndpointSlice", self._home, f"kubernetes.io/service-name={NAME}"
        )
        ends = [end for each in slices for end in list_at(each, "endpoints")]
        return any(object_at(end, "conditions").get("ready", True) is not False for end in ends)

    async def _read_webhooks(self) -> None:
        for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
            for each in await self._list(_REGISTRATION, kind):
                for webhook in list_at(each, "webhooks"):
                    certified = bool(text_at(webhook, "clientConfig", "caBundle"))
                    self._guards[text_at(webhook, "name")] = (text_at(webhook, "failurePolicy"), certified)

    async def _read_off(self, deployment: JsonObject | None) -> HomeSettings:
        """The settings of what Helm or kubectl has installed, as far as it shows them."""
        placements = await self._get("apiextensions.k8s.io/v1", CRD, PLACEMENTS)
        crds: Crds = "ours" if placements is None or owner_of(placements).is_ours else "upstream"
        settings = HomeSettings(namespace=self._home, crds=crds)
        containers = [] if deployment is None else list_at(deployment, "spec", "template", "spec", "containers")
        told = [text for each in containers for text in list_at(each, "args") if isinstance(text, str)]
        if not told:
            return settings
        modes = [mode for mode in get_args(Mode) if f"--mode={mode}" in told]
        return msgspec.structs.replace(
            settings,
            mode=modes[0] if modes else settings.mode,
            webhooks="--no-webhooks" not in told,
            questions="--questions" in told,
            cert_manager=any(text.startswith("--certificates=") for text in told),
        )

    # ------------------------------------------------------------------------------------------------------- parts

    async def _parts(
        self, inventory: Inventory | None, deployment: JsonObject | None, settings: HomeSettings
    ) -> list[Part]:
        found: list[Part] = []
        if inventory is not None:
            found.append(await self._objects(inventory))
        if deployment is not None:
            waiting = rollout_words(deployment)
            ready = f"{object_at(deployment, 'status').get('availableReplicas', 0)} available"
            found += [Part("Pods", not waiting, waiting or ready), await self._leader()]
        ours = [name for name in self._guards if name.endswith(".muster.dev")]
        if ours:
            found.append(self._webhooks(ours))
        service = await self._get("apiregistration.k8s.io/v1", "APIService", _QUESTIONS)
        if service is not None:
            found.append(_questions(service))
        elif settings.has_questions:
            found.append(Part("questions", False, f"the APIService {_QUESTIONS} is not there"))
        return found

    async def _objects(self, inventory: Inventory) -> Part:
        """Of what this version installs with these settings, what is not there."""
        missing = []
        for obj in objects(inventory.settings):
            which = id_of(obj)
            known = which.kind not in NEWER_KINDS or self._cluster.served(which.api_version, which.kind) is not None
            if not known or which.kind == CRD:
                continue
            if await self._get(which.api_version, which.kind, which.name, which.namespace) is None:
                missing.append(str(which))
        missing = [each for each in missing if each not in self._unseen]
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        gone = f"not there: {', '.join(missing[:_SHOWN])}{more}; `muster kubernetes upgrade` brings them"
        return Part("objects", not missing, gone if missing else "all there")

    async def _leader(self) -> Part:
        lease = await self._get("coordination.k8s.io/v1", "Lease", LEASE, self._home)
        holder = "" if lease is None else text_at(lease, "spec", "holderIdentity")
        if lease is None or not holder:
            return Part("leader", False, "nobody leads: decisions stand still")
        renewed = parse_time(text_at(lease, "spec", "renewTime"))
        age = None if isinstance(renewed, Fault) else (self._clock() - renewed).total_seconds()
        if age is None or age > _STALE:
            told = "ages ago" if age is None else f"{age:.0f} s ago"
            return Part("leader", False, f"{holder} has renewed its lease {told}: decisions stand still")
        return Part("leader", True, holder)

    def _remedy(self, version: str, settings: HomeSettings, *, by_us: bool) -> str:
        """What brings what is missing; where the kinds are somebody else's, without taking them over."""
        theirs = any(key in CORE_KINDS and not owner_of(each).is_ours for key, each in self._definitions.items())
        if version and not by_us:
            return "they come with the setting crds=ours, by whoever has installed it"
        if version and settings.crds == "ours":
            return "`muster kubernetes upgrade` brings them"
        if version:
            return f"the setting crds is {settings.crds}; `muster kubernetes upgrade --crds ours` brings them"
        options = " --crds upstream --set mode=beside" if theirs else ""
        return f"`muster kubernetes install{options} --dry-run` shows what would come"

    def _webhooks(self, names: list[str]) -> Part:
        uncertified = [name for name in names if not self._guards[name][1]]
        if not self._answered:
            refused = [words for name, words in REFUSED_BY.items() if self._guards.get(name, ("",))[0] == "Fail"]
            told = f"nobody answers: {', '.join([*refused, 'no advice is given'])}"
            return Part("webhooks", False, f"{told}; the setting webhooks=false does without")
        if uncertified:
            return Part("webhooks", False, f"no certificate yet for {', '.join(sorted(uncertified))}")
        return Part("webhooks", True, f"{len(names)} answered")

    # ------------------------------------------------------------------------------------------------------- kinds

    async def _kind(self, key: str, settings: HomeSettings) -> Kind:
        resource = RESOURCES[key]
        found = await self._get("apiextensions.k8s.io/v1", CRD, key)
        served = self._cluster.served(resource.api_version(resource.storage_version), resource.kind) is not None
        ours = {each.key for each in kinds(settings)}
        needed = key in CORE_KINDS or is_ours_alone(resource.group) or key in ours
        if found is None:
            return Kind(key, "", served, needed, Lacks())
        self._definitions[key] = found
        owner = owner_of(found)
        # Compared with what is installed here: without webhooks we serve the stored version alone.
        missing = lacks(crd(resource, settings, converted=settings.has_webhooks and key in ours), found)
        return Kind(key, str(owner), served, needed, missing, tuple(noticed(key, missing)))

    # ------------------------------------------------------------------------------------------------------- rules

    def _applies(self, rule: Rule) -> bool:
        """Not to a field that the definition drops."""
        definition = self._definitions.get(rule.about)
        return not rule.field or definition is None or bool(schema_at(definition, rule.field))

    async def _rule(self, rule: Rule, settings: HomeSettings) -> Enforced:
        places = []
        if rule.definition is not None:
            definition = self._definitions.get(rule.about)
            told = [] if definition is None else rules_at(definition, rule.definition.place)
            if any(rule.definition.message in each for each in told):
                places.append(Place.DEFINITION)
        if rule.policies and await self._has_policies(rule.policies):
            places.append(Place.POLICY)
        asked = [name for name in rule.webhooks if name in self._guards]
        if asked:
            places.append(Place.WEBHOOK)
        if rule.upstream and rule.upstream in self._guards:
            places.append(Place.UPSTREAM)
        guards = rule.guards and settings.mode == "alone"
        if not places and self._may_be_hidden(rule):
            return Enforced(rule.name, (Place.UNSEEN,), guards)
        if not places:
            return Enforced(rule.name, (Place.NOWHERE,), guards, rule.without)
        return Enforced(rule.name, tuple(places), guards, self._while_down(places, asked))

    def _while_down(self, places: list[Place], asked: list[str]) -> str:
        """What happens to a rule that our Pods alone enforce, if nobody answers."""
        if self._answered or places != [Place.WEBHOOK]:
            return ""
        fails = any(self._guards[name][0] == "Fail" for name in asked)
        return "nobody answers: such writes are refused" if fails else "nobody answers: such writes pass"

    def _may_be_hidden(self, rule: Rule) -> bool:
        """Whether somebody may see to it, and we may not look."""
        kinds = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy")
        looked = {f"{kind}{part} {name}" for kind in kinds for part in ("", "Binding") for name in rule.policies}
        looked |= {f"{CRD} {rule.about}"} if rule.definition is not None else set()
        looked |= _CONFIGURATIONS if rule.webhooks or rule.upstream else set()
        return not looked.isdisjoint(self._unseen)

    async def _has_policies(self, names: tuple[str, ...]) -> bool:
        """Whether each of them is there, and bound."""
        for name in names:
            for kind in ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"):
                policy = await self._get(_REGISTRATION, kind, name)
                if policy is not None and await self._get(_REGISTRATION, f"{kind}Binding", name) is not None:
                    break
            else:
                return False
        return True


def _stored_kinds() -> list[str]:
    return [key for key, each in RESOURCES.items() if not (each.builtin or each.virtual or each.custom)]


def _version(inventory: Inventory | None, deployment: JsonMapping | None) -> str:
    if inventory is not None:
        return inventory.version
    return "" if deployment is None else labels_of(deployment).get("app.kubernetes.io/version", "unknown")


def _installer(inventory: Inventory | None, deployment: JsonMapping | None) -> str:
    if deployment is not None and owner_of(deployment).release:
        return str(owner_of(deployment))
    if inventory is not None:
        return "muster kubernetes install"
    return "" if deployment is None else " and ".join(owner_of(deployment).managers)


def _questions(service: JsonMapping) -> Part:
    if is_true(service, "Available"):
        return Part("questions", True, "answered")
    told = [text_at(each, "message") for each in list_at(service, "status", "conditions")]
    why = told[0] if told else "the server does not say why"
    harm = "discovery of every kind is disturbed; the setting questions=false ends that"
    return Part("questions", False, f"nobody answers ({why}): {harm}")
