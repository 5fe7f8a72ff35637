"""Install, upgrade, check and uninstall, as somebody would type them, on a real kube-apiserver."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import copy
import io
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from muster.api import RESOURCES
from muster.cli.main import run
from muster.client import Client, load_connection
from muster.errors import ApiError
from muster.kubernetes.manifests import objects
from muster.kubernetes.objects.crds import crd
from muster.kubernetes.settings import DEFAULTS, HomeSettings
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Protocol

    class Server(Protocol):
        @property
        def kubeconfig(self) -> Path: ...
        def user(self, name: str, groups: tuple[str, ...] = ()) -> Path: ...


BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
pytestmark = [pytest.mark.e2e, pytest.mark.slow]
GROUP = "cluster.open-cluster-management.io"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SETS = f"{CRDS}/managedclustersets.{GROUP}"
DEPLOYMENT = "/apis/apps/v1/namespaces/muster-system/deployments/muster"
INVENTORY = "/api/v1/namespaces/muster-system/configmaps/muster-installation"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/muster"


def a_certificate() -> str:
    """Of nobody, in base64."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nobody")])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, BEGIN, BEGIN + timedelta(days=36500))
    return base64.b64encode(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)).decode()


class NotThereError(Exception):
    """The server answers 404."""


class Told:
    """What a command said."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def json(self) -> JsonObject:
        found: JsonObject = json.loads(self.out)
        return found

    def deeds(self) -> dict[str, str]:
        """What happens to each object, by kind and name, but for what the server is too old for."""
        return {
            f"{step['kind']} {step['name']}": step["deed"] for step in self.json()["steps"] if step not in self.left
        }

    @property
    def left(self) -> list[JsonObject]:
        return [step for step in self.json()["steps"] if step["deed"] == "leave out"]


def muster(server: Server, *arguments: str, kubeconfig: Path | None = None) -> Told:
    out, err = io.StringIO(), io.StringIO()
    where = str(server.kubeconfig if kubeconfig is None else kubeconfig)
    code = run(["kubernetes", *arguments, "--kubeconfig", where], io.StringIO(), out, err)
    return Told(code, out.getvalue(), err.getvalue())


def send(
    server: Server, method: str, path: str, body: Json = None, content_type: str = "application/json"
) -> JsonObject:
    async def work() -> JsonObject:
        async with Client(await load_connection(None, str(server.kubeconfig))) as client:
            try:
                reply = await client.request(method, path, body=body, content_type=content_type)
            except ApiError as error:
                raise NotThereError(path) if error.code == 404 else error from error
            found: JsonObject = reply.json()
            return found

    return asyncio.run(work())


def is_there(server: Server, path: str) -> bool:
    with contextlib.suppress(NotThereError):
        send(server, "GET", path)
        return True
    return False


@pytest.fixture
def clean(server: Server) -> Server:
    """A server without us. Namespaces stay Terminating where nobody empties them, so that one stays."""
    told = muster(server, "uninstall", "--delete-crds", "--yes")
    assert told.code == 0, told.err
    return server


@pytest.fixture
def installed(clean: Server) -> Server:
    told = muster(clean, "install", "--yes")
    assert told.code == 0, told.err
    return clean


def a_set(name: str, version: str = "v1beta2") -> JsonObject:
    return {"apiVersion": f"{GROUP}/{version}", "kind": "ManagedClusterSet", "metadata": {"name": name}, "spec": {}}


def test_the_plan_comes_first_and_changes_nothing(clean: Server) -> None:
    told = muster(clean, "install", "--dry-run", "-o", "json")
    assert told.code == 0, told.err
    deeds = told.deeds()
    assert deeds.pop("Namespace muster-system") in ("create", "unchanged")
    assert set(deeds.values()) == {"create"}
    newer = {"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"}
    served = send(clean, "GET", "/apis/admissionregistration.k8s.io/v1")["resources"]
    lacking = newer - {each["kind"] for each in served}
    assert [step["kind"] for step in told.left] == [
        each["kind"] for each in objects(DEFAULTS) if each["kind"] in lacking
    ]
    assert {step["details"][0] for step in told.left} <= {"this server is too old for it; a webhook does the same"}
    assert len(deeds) == len(objects(DEFAULTS)) - len(told.left) - 1
    assert not is_there(clean, DEPLOYMENT)
    assert not is_there(clean, SETS)


def test_without_a_terminal_it_asks_for_yes_before_anything(clean: Server) -> None:
    told = muster(clean, "install")
    assert told.code == 2
    assert "--yes" in told.err
    assert not is_there(clean, DEPLOYMENT)


def test_everything_is_installed_and_a_second_time_changes_nothing(installed: Server) -> None:
    again = muster(installed, "install", "--yes", "-o", "json")
    assert (again.code, set(again.deeds().values())) == (0, {"unchanged"})
    for each in send(installed, "GET", CRDS)["items"]:
        conditions = {cond["type"]: cond["status"] for cond in each["status"]["conditions"]}
        assert conditions["Established"] == "True", each["metadata"]["name"]
        assert conditions.get("NonStructuralSchema", "False") == "False"


def test_a_field_of_somebody_else_stops_it_before_anything_and_can_be_taken_over(installed: Server) -> None:
    scale: JsonObject = {"spec": {"replicas": 5}}
    send(installed, "PATCH", DEPLOYMENT, scale, "application/merge-patch+json")
    told = muster(installed, "upgrade", "--set", "logLevel=debug", "--yes")
    assert told.code == 1
    assert ".spec.replicas" in told.out
    assert "--force-conflicts" in told.err
    assert "--log-level=info" in json.dumps(send(installed, "GET", DEPLOYMENT))
    assert muster(installed, "upgrade", "--set", "logLevel=debug", "--yes", "--force-conflicts").code == 0
    found = send(installed, "GET", DEPLOYMENT)
    assert (found["spec"]["replicas"], "--log-level=debug" in json.dumps(found)) == (2, True)


def test_an_upgrade_keeps_settings_and_objects_and_removes_what_is_no_longer_wanted(installed: Server) -> None:
    assert muster(installed, "upgrade", "--set", "replicas=3", "--yes").code == 0
    # As an earlier version would have left it: one more object, and an older number.
    stale: JsonObject = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "stale", "namespace": "muster-system"},
    }
    stale["metadata"]["labels"] = {"app.kubernetes.io/part-of": "muster"}
    send(installed, "POST", "/api/v1/namespaces/muster-system/configmaps", stale)
    inventory = send(installed, "GET", INVENTORY)
    inventory["data"]["version"] = "0.0.1"
    inventory["data"]["objects"] += "v1 ConfigMap muster-system stale\nv1 ConfigMap muster-system never-there\n"
    send(installed, "PUT", INVENTORY, inventory)
    plan = muster(installed, "upgrade", "--dry-run", "-o", "json")
    assert plan.json()["installed"] == "0.0.1"
    assert {name: deed for name, deed in plan.deeds().items() if deed != "unchanged"} == {"ConfigMap stale": "remove"}
    assert muster(installed, "upgrade", "--yes").code == 0
    assert not is_there(installed, "/api/v1/namespaces/muster-system/configmaps/stale")
    assert send(installed, "GET", DEPLOYMENT)["spec"]["replicas"] == 3
    assert "stale" not in send(installed, "GET", INVENTORY)["data"]["objects"]


def test_webhooks_can_be_turned_off_and_on_although_somebody_else_put_a_certificate_there(installed: Server) -> None:
    certificate = a_certificate()
    bundle: JsonObject = {"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": certificate}}}}}
    send(installed, "PATCH", SETS, bundle, "application/merge-patch+json")
    again = muster(installed, "install", "--yes", "-o", "json")
    assert set(again.deeds().values()) == {"unchanged"}
    kept = send(installed, "GET", SETS)["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"]
    assert kept == certificate
    told = muster(installed, "upgrade", "--set", "webhooks=false", "--yes")
    assert told.code == 0, told.err
    spec = send(installed, "GET", SETS)["spec"]
    assert (spec["conversion"], [each["name"] for each in spec["versions"]]) == ({"strategy": "None"}, ["v1beta2"])
    assert not is_there(installed, WEBHOOKS)
    told = muster(installed, "upgrade", "--set", "webhooks=true", "--yes")
    assert told.code == 0, told.err
    assert send(installed, "GET", SETS)["spec"]["conversion"]["strategy"] == "Webhook"


def test_definitions_of_somebody_else_are_kept_and_check_says_what_they_lack(clean: Server) -> None:
    theirs = crd(RESOURCES[f"managedclustersets.{GROUP}"], DEFAULTS, converted=False)
    version = theirs["spec"]["versions"][0]
    version = version | {"schema": copy.deepcopy(version["schema"])}
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    version["schema"]["openAPIV3Schema"].pop("x-kubernetes-validations", None)
    spec.pop("x-kubernetes-validations", None)
    del spec["properties"]["exclusiveKey"]
    theirs = theirs | {"spec": {**theirs["spec"], "versions": [version]}}
    send(clean, "POST", CRDS, theirs)
    try:
        told = muster(clean, "install", "--yes", "-o", "json", "--set", "policies=false", "--set", "webhooks=false")
        assert told.code == 0, told.err
        assert told.deeds()[f"CustomResourceDefinition managedclustersets.{GROUP}"] == "keep"
        found = muster(clean, "check", "-o", "json").json()
        (kind,) = [each for each in found["kinds"] if each["name"] == f"managedclustersets.{GROUP}"]
        assert kind["owner"] not in ("us", "")
        assert kind["lacks"]["fields"] == ["spec.exclusiveKey"]
        assert any("exclusive by the default label only" in each for each in found["noticed"])
        kept = muster(clean, "uninstall", "--delete-crds", "--yes", "-o", "json")
        assert kept.deeds()[f"CustomResourceDefinition managedclustersets.{GROUP}"] == "keep"
        assert is_there(clean, SETS)
        taken = muster(clean, "install", "--yes", "--replace-crds", "-o", "json")
        assert taken.deeds()[f"CustomResourceDefinition managedclustersets.{GROUP}"] == "change"
        properties = send(clean, "GET", SETS)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
        assert "exclusiveKey" in properties["spec"]["properties"]
    finally:
        send(clean, "DELETE", SETS)


def test_where_placements_are_somebody_elses_two_might_decide_and_the_plan_says_so(clean: Server) -> None:
    theirs = crd(RESOURCES[f"placements.{GROUP}"], DEFAULTS, converted=False)
    send(clean, "POST", CRDS, theirs)
    try:
        (problem,) = muster(clean, "check", "-o", "json").json()["problems"]
        assert "install --crds upstream --set mode=beside --dry-run" in problem
        (note,) = muster(clean, "install", "--dry-run", "-o", "json").json()["notes"]
        assert "both would decide" in note
        assert "note: placements are a kind of " in muster(clean, "install", "--dry-run").out
        assert muster(clean, "install", "--set", "mode=beside", "--yes").code == 0
        assert "note:" not in muster(clean, "install", "--set", "mode=beside", "--dry-run").out
        # Beside, nothing is refused for want of us: nobody answers, and that costs the advice.
        (part,) = [each for each in muster(clean, "check", "-o", "json").json()["parts"] if each["name"] == "webhooks"]
        assert part["words"] == "nobody answers: no advice is given; the setting webhooks=false does without"
    finally:
        send(clean, "DELETE", f"{CRDS}/placements.{GROUP}")


def test_uninstall_keeps_objects_and_leaves_nothing_that_calls_us(clean: Server) -> None:
    assert muster(clean, "install", "--yes", "--set", "policies=false", "--set", "questions=true").code == 0
    assert muster(clean, "upgrade", "--set", "webhooks=false", "--yes").code == 0
    send(clean, "POST", f"/apis/{GROUP}/v1beta2/managedclustersets", a_set("kept"))
    assert muster(clean, "upgrade", "--set", "webhooks=true", "--yes").code == 0
    told = muster(clean, "uninstall", "--yes")
    assert told.code == 0, told.err
    assert send(clean, "GET", f"/apis/{GROUP}/v1beta2/managedclustersets/kept")["metadata"]["name"] == "kept"
    for kind in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations", "validatingadmissionpolicies"):
        found = send(clean, "GET", f"/apis/admissionregistration.k8s.io/v1/{kind}")["items"]
        assert [each["metadata"]["name"] for each in found if "muster" in each["metadata"]["name"]] == []
    services = send(clean, "GET", "/apis/apiregistration.k8s.io/v1/apiservices")["items"]
    # Those of kinds have no Service behind them: the server answers itself.
    assert [each["metadata"]["name"] for each in services if each["spec"].get("service")] == []
    assert send(clean, "GET", SETS)["spec"]["conversion"] == {"strategy": "None"}
    assert not is_there(clean, DEPLOYMENT)
    again = muster(clean, "uninstall", "--yes")
    assert (again.code, "there was nothing to remove" in again.out) == (0, True)
    assert muster(clean, "install", "--yes").code == 0
    assert send(clean, "GET", f"/apis/{GROUP}/v1beta2/managedclustersets/kept")["metadata"]["name"] == "kept"


def test_deleting_definitions_says_how_many_objects_go(clean: Server) -> None:
    assert muster(clean, "install", "--yes", "--set", "webhooks=false", "--set", "policies=false").code == 0
    for name in ("a", "b", "c"):
        send(clean, "POST", f"/apis/{GROUP}/v1beta2/managedclustersets", a_set(name))
    told = muster(clean, "uninstall", "--delete-crds", "--dry-run", "-o", "json")
    (step,) = [each for each in told.json()["steps"] if each["name"] == f"managedclustersets.{GROUP}"]
    assert (step["deed"], step["details"]) == ("remove", ["3 objects go with it"])


def test_what_was_installed_with_kubectl_is_found_and_removed(clean: Server) -> None:
    """Applied by somebody else from `muster kubernetes manifests`, without an inventory."""
    for each in objects(HomeSettings(webhooks=False, policies=False, questions=True)):
        if each["kind"] in ("Deployment", "ServiceAccount"):
            plural = {"Deployment": "/apis/apps/v1", "ServiceAccount": "/api/v1"}[each["kind"]]
            send(clean, "POST", f"{plural}/namespaces/muster-system/{each['kind'].lower()}s", each)
    found = muster(clean, "check", "-o", "json").json()
    assert found["installed"]["version"]
    # Its settings are read off its Pods, and nobody is sent to a command that would not help.
    (gone,) = [each for each in found["problems"] if each.startswith("kinds ")]
    assert gone.endswith("they come with the setting crds=ours, by whoever has installed it")
    assert {part["name"]: part["words"] for part in found["parts"]}["questions"].endswith("is not there")
    told = muster(clean, "uninstall", "--yes", "-o", "json")
    assert told.deeds()["Deployment muster"] == "remove"
    assert not is_there(clean, DEPLOYMENT)


def test_a_helm_release_is_left_to_helm(installed: Server) -> None:
    release: JsonObject = {"metadata": {"annotations": {"meta.helm.sh/release-name": "muster"}}}
    send(installed, "PATCH", DEPLOYMENT, release, "application/merge-patch+json")
    told = muster(installed, "uninstall", "--yes")
    assert (told.code, is_there(installed, DEPLOYMENT)) == (1, True)
    assert "helm uninstall" in told.out
    told = muster(installed, "install", "--force-conflicts", "--yes")
    assert (told.code, "the Helm release muster" in told.out) == (1, True)
    release = {"metadata": {"annotations": {"meta.helm.sh/release-name": None}}}
    send(installed, "PATCH", DEPLOYMENT, release, "application/merge-patch+json")


def test_a_setting_that_needs_kinds_of_others_is_refused_before_anything(clean: Server) -> None:
    told = muster(clean, "install", "--set", "monitoring=true", "--yes")
    assert told.code == 1
    assert "the server has no kind ServiceMonitor" in told.out
    assert not is_there(clean, DEPLOYMENT)


def test_an_object_of_somebody_else_with_our_name_stops_it(clean: Server) -> None:
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    send(clean, "POST", roles, {"metadata": {"name": "muster:view"}, "rules": []})
    told = muster(clean, "install", "--yes")
    send(clean, "DELETE", f"{roles}/muster:view")
    assert (told.code, "it is owned by" in told.out, is_there(clean, DEPLOYMENT)) == (1, True, False)


def test_upgrade_needs_an_installation(clean: Server) -> None:
    told = muster(clean, "upgrade", "--yes")
    assert told.code == 2
    assert "use install" in told.err


def test_somebody_without_rights_is_told_so(installed: Server) -> None:
    told = muster(installed, "install", "--yes", kubeconfig=installed.user("nobody"))
    assert told.code == 4
    assert "forbidden" in told.err


def test_check_tells_what_stands_still_and_what_could_not_be_read(installed: Server) -> None:
    told = muster(installed, "check", "-o", "json")
    found = told.json()
    assert told.code == 1  # nobody runs Pods here
    assert {part["name"]: part["well"] for part in found["parts"]}["objects"] is True
    assert {part["name"]: part["well"] for part in found["parts"]}["leader"] is False
    assert all(kind["owner"] == "us" and not any(kind["lacks"].values()) for kind in found["kinds"])
    send(installed, "DELETE", "/apis/policy/v1/namespaces/muster-system/poddisruptionbudgets/muster")
    assert "PodDisruptionBudget muster-system/muster" in muster(installed, "check").out
    nobody = installed.user("nobody")
    seen = muster(installed, "check", "-o", "json", kubeconfig=nobody).json()
    assert "ConfigMap muster-system/muster-installation" in seen["unseen"]
    # Who may not look is told nothing that he could not know.
    assert {place for rule in seen["rules"] for place in rule["enforced"]} == {"could not be read"}
    assert (seen["installed"], seen["problems"]) == (None, [])
    words = muster(installed, "check", kubeconfig=nobody).out
    assert "installed: may not be read in muster-system" in words
    assert f"managedclusters.{GROUP}: served; whose it is may not be read" in words


def test_check_of_a_server_without_us_says_how_to_begin_and_no_more(clean: Server) -> None:
    found = muster(clean, "check", "-o", "json").json()
    how = "`muster kubernetes install --dry-run` shows what would come"
    assert (found["problems"], found["noticed"]) == ([f"Muster is not installed in muster-system: {how}"], [])


def test_kinds_that_are_missing_are_told_by_the_plan_and_by_check_with_what_brings_them(clean: Server) -> None:
    told = muster(clean, "install", "--crds", "none", "--set", "webhooks=false", "--yes", "-o", "json")
    (note,) = told.json()["notes"]
    assert note.startswith(f"this server has no managedclusters.{GROUP}, ")
    assert note.endswith("--crds ours brings them")
    (gone,) = [each for each in muster(clean, "check", "-o", "json").json()["problems"] if each.startswith("kinds ")]
    assert gone.endswith("the setting crds is none; `muster kubernetes upgrade --crds ours` brings them")
    told = muster(clean, "upgrade", "--crds", "ours", "--yes")
    assert (told.code, "note:" in told.out) == (0, False)
    assert not any(each.startswith("kinds ") for each in muster(clean, "check", "-o", "json").json()["problems"])


def test_check_names_every_rule_that_nobody_enforces(clean: Server) -> None:
    assert muster(clean, "install", "--yes", "--set", "policies=false", "--set", "webhooks=false").code == 0
    found = muster(clean, "check", "-o", "json").json()
    nowhere = {each["rule"] for each in found["rules"] if each["enforced"] == ["nowhere"]}
    assert "clusters join and leave sets by permission" in nowhere
    assert any("anybody who may patch a cluster" in each for each in found["problems"])


def test_a_namespace_that_was_there_before_is_left_as_it_is(clean: Server) -> None:
    if not is_there(clean, "/api/v1/namespaces/theirs"):
        send(clean, "POST", "/api/v1/namespaces", {"metadata": {"name": "theirs"}})
    told = muster(clean, "install", "-n", "theirs", "--yes", "-o", "json")
    elsewhere = muster(clean, "install", "-n", "muster-system", "--yes")
    assert (elsewhere.code, "installed in theirs" in elsewhere.err) == (2, True)
    assert muster(clean, "uninstall", "-n", "muster-system", "--yes").code == 2
    assert muster(clean, "check", "-o", "json").json()["namespace"] == "theirs"
    assert told.deeds()["Namespace theirs"] == "keep"
    assert "pod-security.kubernetes.io/enforce" not in json.dumps(send(clean, "GET", "/api/v1/namespaces/theirs"))
    gone = muster(clean, "uninstall", "--delete-namespace", "--delete-crds", "--yes", "-o", "json")
    assert "Namespace theirs" not in gone.deeds()
