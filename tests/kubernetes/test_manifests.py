"""What is installed: the objects of any settings, their order, and what must be true of each of them."""

from __future__ import annotations

import io
import json
from itertools import product

import pytest
import yaml

from muster.api import RESOURCES
from muster.cli.main import run
from muster.controllers.permissions import LEASE
from muster.kubernetes.installing.cluster import id_of
from muster.kubernetes.manifests import objects
from muster.kubernetes.objects.common import PART_OF
from muster.kubernetes.serving.certificates import AUTHORITY_LIFE, SERVING_LIFE
from muster.kubernetes.settings import DEFAULTS, HomeSettings, settings_from
from muster.values.json import Json, JsonObject

EVERYTHING = HomeSettings(questions=True, monitoring=True, cert_manager=True)
SETS = "managedclustersets.cluster.open-cluster-management.io"


def one(settings: HomeSettings, kind: str, name: str = "muster") -> JsonObject:
    (found,) = [each for each in objects(settings) if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    return found


def names(settings: HomeSettings, kind: str) -> list[str]:
    return [each["metadata"]["name"] for each in objects(settings) if each["kind"] == kind]


def rules(settings: HomeSettings, kind: str) -> list[JsonObject]:
    found: list[JsonObject] = one(settings, kind)["rules"]
    return found


def test_the_same_settings_give_the_same_text() -> None:
    assert json.dumps(objects(EVERYTHING)) == json.dumps(objects(EVERYTHING))


@pytest.mark.parametrize(
    ("crds", "mode", "policies", "webhooks", "questions", "cert_manager"),
    list(product(["ours", "upstream", "none"], ["alone", "beside"], *[[True, False]] * 4)),
)
def test_every_object_is_there_once_is_ours_and_comes_after_what_it_needs(
    crds: Json, mode: Json, policies: bool, webhooks: bool, questions: bool, cert_manager: bool
) -> None:
    settings = HomeSettings(
        crds=crds, mode=mode, policies=policies, webhooks=webhooks, questions=questions, cert_manager=cert_manager
    )
    found = objects(settings)
    ids = [id_of(each) for each in found]
    assert len(set(ids)) == len(ids)
    assert all(each["metadata"]["labels"][PART_OF] == "muster" for each in found)
    kinds = [each["kind"] for each in found]
    order = ["Namespace", "CustomResourceDefinition", "ServiceAccount", "Deployment", "ValidatingWebhookConfiguration"]
    places = [kinds.index(kind) for kind in order if kind in kinds]
    assert places == sorted(places)
    if "APIService" in kinds:
        assert kinds[-1] == "APIService"
    assert "MutatingWebhookConfiguration" not in kinds[: kinds.index("Deployment")]


def test_our_kinds_are_all_that_are_stored_and_not_built_into_kubernetes() -> None:
    wanted = [key for key, each in RESOURCES.items() if not (each.builtin or each.virtual)]
    assert names(DEFAULTS, "CustomResourceDefinition") == wanted
    assert SETS in wanted
    assert not any("fleet.muster.dev" in key for key in wanted)


def test_with_upstreams_kinds_only_those_are_installed_that_nobody_else_defines() -> None:
    found = names(HomeSettings(crds="upstream"), "CustomResourceDefinition")
    wanted = ("placementhistories.placement", "placementguardrecords.placement", "resolutions.resolution")
    assert found == [f"{each}.muster.dev" for each in wanted]
    assert names(HomeSettings(crds="none"), "CustomResourceDefinition") == []


def test_definitions_carry_nothing_that_the_server_writes() -> None:
    for each in objects(DEFAULTS):
        assert "status" not in each
        assert set(each["metadata"]) <= {"name", "namespace", "labels", "annotations"}


def test_sets_have_three_versions_where_our_pods_convert_and_the_stored_one_elsewhere() -> None:
    converted = one(DEFAULTS, "CustomResourceDefinition", SETS)["spec"]
    assert [each["name"] for each in converted["versions"]] == ["v1beta2", "v1beta1", "v1alpha1"]
    assert converted["conversion"]["strategy"] == "Webhook"
    service = converted["conversion"]["webhook"]["clientConfig"]["service"]
    assert (service["namespace"], service["name"], service["port"]) == ("muster-system", "muster", 443)
    plain = one(HomeSettings(webhooks=False), "CustomResourceDefinition", SETS)["spec"]
    assert [each["name"] for each in plain["versions"]] == ["v1beta2"]
    assert plain["conversion"] == {"strategy": "None"}


def test_the_namespace_is_the_settings_everywhere() -> None:
    found = objects(HomeSettings(namespace="fleet", questions=True, monitoring=True, cert_manager=True))
    places = {each["metadata"].get("namespace") for each in found}
    assert places == {None, "fleet", "kube-system"}  # who asks the API server about its callers asks there
    assert "muster-system" not in json.dumps(found)


# ----------------------------------------------------------------------------------------------------------------------
# Roles.


def test_leases_are_written_by_name_and_in_our_namespace_only() -> None:
    everywhere = [each for each in rules(DEFAULTS, "ClusterRole") if "leases" in each["resources"]]
    assert [each["verbs"] for each in everywhere] == [["get", "list", "watch"]]
    here = [each for each in rules(DEFAULTS, "Role") if "leases" in each["resources"]]
    assert [(each["verbs"], each.get("resourceNames")) for each in here] == [
        (["create"], None),
        (["get", "update"], [LEASE]),
    ]


def test_nothing_is_granted_by_a_star_and_secrets_only_by_name_in_our_namespace() -> None:
    for settings in (DEFAULTS, EVERYTHING, HomeSettings(questions=True)):
        for each in objects(settings):
            for rule in each.get("rules", []):
                assert "*" not in [*rule["verbs"], *rule["resources"], *rule["apiGroups"]], each["metadata"]["name"]
        assert not any("secrets" in each["resources"] for each in rules(settings, "ClusterRole"))
    secrets = [each for each in rules(DEFAULTS, "Role") if "secrets" in each["resources"]]
    assert all(each["verbs"] == ["create"] or each["resourceNames"] == ["muster-serving"] for each in secrets)


def test_configurations_are_written_by_name_and_not_at_all_with_cert_manager() -> None:
    written = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations", "customresourcedefinitions")
    for each in rules(HomeSettings(questions=True), "ClusterRole"):
        if each["resources"][0] in (*written, "apiservices"):
            assert each["resourceNames"]
            assert "create" not in each["verbs"]
    with_manager = {name for each in rules(EVERYTHING, "ClusterRole") for name in each["resources"]}
    assert not with_manager & {*written, "apiservices"}


def test_without_anybody_who_calls_us_nothing_for_serving_is_granted() -> None:
    settings = HomeSettings(webhooks=False)
    granted = {name for kind in ("ClusterRole", "Role") for each in rules(settings, kind) for name in each["resources"]}
    assert not granted & {"secrets", "subjectaccessreviews", "customresourcedefinitions"}
    assert "placementhistories" in granted


def test_histories_can_be_given_another_owner() -> None:
    (found,) = [each for each in rules(DEFAULTS, "ClusterRole") if "placementhistories" in each["resources"]]
    assert "delete" in found["verbs"]


OF_PLACEMENTS = {
    "placementdecisions",
    "placementdecisions/status",
    "placementhistories",
    "placementguardrecords",
    "placements/finalizers",
    "placements/status",
    "events",
}


def written(settings: HomeSettings) -> set[str]:
    reading = {"get", "list", "watch"}
    found = [each for each in rules(settings, "ClusterRole") if set(each["verbs"]) - reading]
    return {name for each in found for name in each["resources"]}


def test_instead_of_its_placement_controller_only_placements_are_written() -> None:
    assert written(HomeSettings(mode="instead", webhooks=False)) == OF_PLACEMENTS


def test_beside_open_cluster_management_what_is_none_of_its_business_is_written_too() -> None:
    """As the controllers that run there write it: labels of hosts, and resolutions."""
    hosts = {"agents", "agentclassifications", "agentclassifications/status", "hardwaredata", "nodefeatures"}
    assert written(HomeSettings(mode="beside", webhooks=False)) == {*OF_PLACEMENTS, *hosts, "resolutions/status"}


def test_three_roles_for_users_become_part_of_kubernetes_own_and_two_of_nothing() -> None:
    found = {
        name: [
            key.rpartition("-")[2] for key in one(DEFAULTS, "ClusterRole", name)["metadata"]["labels"] if "to-" in key
        ]
        for name in names(DEFAULTS, "ClusterRole")
        if ":" in name
    }
    assert found == {
        "muster:view": ["view"],
        "muster:edit": ["edit"],
        "muster:admin": ["admin"],
        "muster:fleet-view": [],
        "muster:fleet-admin": [],
    }


def test_who_views_writes_nothing_but_questions_and_who_edits_no_decisions() -> None:
    def written(name: str) -> set[str]:
        return {
            resource
            for rule in one(DEFAULTS, "ClusterRole", name)["rules"]
            if set(rule["verbs"]) - {"get", "list", "watch"} and rule["apiGroups"] != ["fleet.muster.dev"]
            for resource in rule["resources"]
        }

    assert written("muster:view") == set()
    assert "placementdecisions" not in written("muster:edit")
    assert "placementdecisions" in written("muster:admin")
    assert not {"managedclusters", "managedclustersets", "managedclustersets/join"} & written("muster:admin")
    assert "managedclustersets/join" in written("muster:fleet-admin")


# ----------------------------------------------------------------------------------------------------------------------
# Pods.


def test_pods_meet_the_restricted_standard() -> None:
    pod = one(DEFAULTS, "Deployment")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert one(DEFAULTS, "Namespace", "muster-system")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == (
        "restricted"
    )
    assert set(container["resources"]) == {"requests", "limits"}
    assert {"startupProbe", "livenessProbe", "readinessProbe"} <= set(container)


def test_selectors_find_our_pods() -> None:
    labels = one(DEFAULTS, "Deployment")["spec"]["template"]["metadata"]["labels"].items()
    for kind, path in (
        ("Deployment", ("selector", "matchLabels")),
        ("PodDisruptionBudget", ("selector", "matchLabels")),
        ("NetworkPolicy", ("podSelector", "matchLabels")),
        ("Service", ("selector",)),
    ):
        selector: Json = one(DEFAULTS, kind)["spec"]
        for name in path:
            selector = selector[name]
        assert selector.items() <= labels, kind


def test_ports_of_the_service_are_ports_of_the_pods_and_open() -> None:
    settings = HomeSettings(questions=True)
    container = one(settings, "Deployment")["spec"]["template"]["spec"]["containers"][0]
    numbers = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert numbers == {"health": 8080, "webhooks": 9443, "questions": 6443}
    targets = {each["targetPort"] for each in one(settings, "Service")["spec"]["ports"]}
    assert targets == set(numbers)
    opened = {port["port"] for each in one(settings, "NetworkPolicy")["spec"]["ingress"] for port in each["ports"]}
    assert opened == set(numbers.values())


def test_what_is_added_to_the_pod_is_there_and_the_rest_too() -> None:
    settings = settings_from({"pod": {"nodeSelector": {"disk": "fast"}, "priorityClassName": "high"}})
    pod = one(settings, "Deployment")["spec"]["template"]["spec"]
    assert (pod["nodeSelector"], pod["priorityClassName"]) == ({"disk": "fast"}, "high")
    assert pod["containers"][0]["image"] == settings.image


def test_with_cert_manager_certificates_are_mounted_and_injected() -> None:
    pod = one(EVERYTHING, "Deployment")["spec"]["template"]["spec"]
    assert {"name": "certificates", "secret": {"secretName": "muster-serving"}} in pod["volumes"]
    # Whatever tells the API server to call our Service is given the authority of what is mounted.
    callers = [each for each in objects(EVERYTHING) if _calls_us(each)]
    assert [each["kind"] for each in callers] == [
        "CustomResourceDefinition",
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
        "APIService",
    ]
    wanted = {"cert-manager.io/inject-ca-from": "muster-system/muster-serving"}
    assert [each for each in objects(EVERYTHING) if each["metadata"].get("annotations", {}) == wanted] == callers


def _calls_us(value: Json) -> bool:
    if isinstance(value, list):
        return any(map(_calls_us, value))
    if not isinstance(value, dict):
        return False
    service = value.get("service")
    if isinstance(service, dict) and (service.get("namespace"), service.get("name")) == ("muster-system", "muster"):
        return True
    return any(map(_calls_us, value.values()))


def test_cert_manager_is_asked_for_what_our_pods_would_make() -> None:
    found = {(each["kind"], each["metadata"]["name"]): each["spec"] for each in objects(EVERYTHING) if "spec" in each}
    assert {name for kind, name in found if kind == "Certificate"} == {"muster-authority", "muster-serving"}
    serving, authority = found["Certificate", "muster-serving"], found["Certificate", "muster-authority"]
    assert "muster.muster-system.svc" in serving["dnsNames"], "as the API server calls a Service"
    assert serving["secretName"] == "muster-serving"
    # Each is issued by somebody who is there, up to one who signs for himself.
    issuer = found[serving["issuerRef"]["kind"], serving["issuerRef"]["name"]]
    assert (issuer, authority["isCA"]) == ({"ca": {"secretName": authority["secretName"]}}, True)
    assert found[authority["issuerRef"]["kind"], authority["issuerRef"]["name"]] == {"selfSigned": {}}
    # In hours, as cert-manager reads them; they live and are renewed as ours are.
    hours = [f"{days * 24}h" for days in (SERVING_LIFE.days, 30, AUTHORITY_LIFE.days)]
    assert [serving["duration"], serving["renewBefore"], authority["duration"]] == hours


# ----------------------------------------------------------------------------------------------------------------------
# The command.


def printed(*arguments: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    assert run(["kubernetes", "manifests", *arguments], io.StringIO(), out, err) == 0, err.getvalue()
    return out.getvalue()


def test_the_command_prints_the_objects_as_yaml_and_as_json() -> None:
    wanted = objects(HomeSettings(crds="upstream", replicas=1))
    said = ("--crds", "upstream", "--set", "replicas=1")
    assert list(yaml.load_all(printed(*said), Loader=yaml.CSafeLoader)) == wanted
    assert json.loads(printed(*said, "-o", "json")) == {"apiVersion": "v1", "kind": "List", "items": wanted}


def test_options_count_more_than_assignments_and_these_more_than_the_file(tmp_path: Json) -> None:
    file = tmp_path / "values.yaml"
    file.write_text("replicas: 4\nimage: from-the-file\ncrds: none\n")
    found = json.loads(
        printed("-f", str(file), "--set", "image=assigned", "--image", "typed", "-n", "fleet", "-o", "json")
    )
    (deployment,) = [each for each in found["items"] if each["kind"] == "Deployment"]
    assert deployment["metadata"]["namespace"] == "fleet"
    assert deployment["spec"]["replicas"] == 4
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "typed"


@pytest.mark.parametrize("arguments", [("--crds", "theirs"), ("--set", "replicas"), ("-f", "no-such-file")])
def test_what_is_said_wrong_is_refused_with_2(arguments: tuple[str, ...]) -> None:
    out, err = io.StringIO(), io.StringIO()
    assert run(["kubernetes", "manifests", *arguments], io.StringIO(), out, err) == 2
    assert out.getvalue() == ""
    assert err.getvalue().startswith("muster: ")
