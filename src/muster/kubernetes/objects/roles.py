"""What our Pods may do: no more than they need.

The work itself is what the hub grants its own controllers (`controllers/permissions.py`); leading is limited to our
namespace and to names. Serving adds what it says itself (`serving/permissions.py`), our Secret, and the configurations
that carry the certificate, each by its name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.crds import GROUP as EXTENSIONS
from muster.api.managed_cluster import GROUP as OCM
from muster.api.managed_cluster_set import MANAGED_CLUSTER_SET
from muster.controllers.permissions import CONTROLLERS, LEADING, PROFILING_RULES, RULES
from muster.kubernetes.objects.common import RBAC, READ, named, role_ref, rule, service_account
from muster.kubernetes.serving.permissions import serving_rules
from muster.kubernetes.settings import NAME, SECRET
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from muster.kubernetes.settings import HomeSettings

#: The plurals of what carries a certificate of ours.
CARRIERS: Final = {
    "ValidatingWebhookConfiguration": ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    "MutatingWebhookConfiguration": ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    "APIService": ("apiregistration.k8s.io", "apiservices"),
}
#: Without these no placement is decided; all else is left to Open Cluster Management where that runs the hub.
_PLACEMENTS: Final = ("placements", "placementdecisions", "placementhistories", "placementguardrecords", "events")


def roles(settings: HomeSettings, carriers: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """Roles and bindings. `carriers` are the configurations that our certificate is put into."""
    namespace = settings.namespace
    everywhere = working_rules(settings)
    for each in (*serving_rules(settings), *_carrier_rules(settings, carriers)):
        if not _is_granted(each, everywhere):
            everywhere.append(each)
    here = [*LEADING, *_secret_rules(settings)]
    yield named(f"{RBAC}/v1", "ClusterRole", NAME) | {"rules": everywhere}
    yield _bound("ClusterRoleBinding", NAME, "", role_ref("ClusterRole", NAME), namespace)
    yield named(f"{RBAC}/v1", "Role", NAME, namespace) | {"rules": here}
    yield _bound("RoleBinding", NAME, namespace, role_ref("Role", NAME), namespace)


def delegation(settings: HomeSettings) -> Iterator[JsonObject]:
    """What a server behind the API server needs: to know whom that has let in, and to ask what they may do."""
    namespace, delegator = settings.namespace, role_ref("ClusterRole", "system:auth-delegator")
    reader = role_ref("Role", "extension-apiserver-authentication-reader")
    yield _bound("ClusterRoleBinding", f"{NAME}:auth-delegator", "", delegator, namespace)
    yield _bound("RoleBinding", f"{NAME}:authentication-reader", "kube-system", reader, namespace)


def working_rules(settings: HomeSettings) -> list[JsonObject]:
    """What the controllers may do everywhere. Of Open Cluster Management's kinds only placements are ours beside it;
    instead of its placement controller, nothing else is."""
    rules = [each for each in RULES[CONTROLLERS] if each not in LEADING]
    rules += PROFILING_RULES if settings.cluster_profiles else []
    if settings.mode == "alone":
        return rules
    kept = [each for each in rules if settings.mode == "beside" and each["apiGroups"] != [OCM]]
    return [part for each in rules for part in ([each] if each in kept else _for_placements(each))]


def _for_placements(given: JsonObject) -> Iterator[JsonObject]:
    """A rule as it was for what belongs to placements, and for reading alone for everything else."""
    ours = [each for each in given["resources"] if each.partition("/")[0] in _PLACEMENTS]
    others = [each for each in given["resources"] if each not in ours]
    reading = [verb for verb in given["verbs"] if verb in READ]
    if ours:
        yield given | {"resources": ours}
    if others and reading:
        yield given | {"resources": others, "verbs": reading}


def _is_granted(asked: JsonObject, rules: Iterable[JsonObject]) -> bool:
    """Whether one rule has it all already."""
    return any(
        each["apiGroups"] == asked["apiGroups"]
        and set(each["resources"]) >= set(asked["resources"])
        and set(each["verbs"]) >= set(asked["verbs"])
        and each.get("resourceNames") in (None, asked.get("resourceNames"))
        for each in rules
    )


def _carrier_rules(settings: HomeSettings, carriers: Iterable[JsonObject]) -> Iterator[JsonObject]:
    if not settings.needs_serving or settings.cert_manager:
        return  # cert-manager puts its certificate there itself
    names: dict[tuple[str, str], list[str]] = {}
    for each in carriers:
        names.setdefault(CARRIERS[each["kind"]], []).append(each["metadata"]["name"])
    if settings.has_webhooks and settings.crds == "ours":
        names[EXTENSIONS, "customresourcedefinitions"] = [MANAGED_CLUSTER_SET.key]
    for (group, plural), found in sorted(names.items()):
        yield rule(("get", "patch", "update"), group, plural, names=tuple(sorted(found)))


def _secret_rules(settings: HomeSettings) -> Iterator[JsonObject]:
    """The Secret with the certificates. Its name cannot be known when it is created."""
    if settings.needs_serving and not settings.cert_manager:
        yield rule(("create",), "", "secrets")
        yield rule(("get", "list", "watch", "patch", "update"), "", "secrets", names=(SECRET,))


def _bound(kind: str, name: str, namespace: str, ref: JsonObject, home: str) -> JsonObject:
    head = named(f"{RBAC}/v1", kind, name, namespace)
    return head | {"roleRef": ref, "subjects": [service_account(home)]}
