"""`python -m tests.clients.specs [WORDS…]`: Kubernetes' own specifications of the API against a hub.

The program is built from module k8s.io/kubernetes (`conformance`: two thousand packages, which takes long the first
time); it comes with every specification that could be about an API server. Those of kinds that a hub does not serve
(Pods, Deployments, webhooks, quotas …) fail at their first request for one, with 404: such a failure is counted apart,
by that answer and not by a list of names. With words only the specifications whose text has one of them are run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.stage import a_running_hub
from tests.differential.building import NoGoError, build

HERE = Path(__file__).parent
AREAS = (
    r"\[sig-api-machinery\]|"
    r"\[sig-auth\] (Certificates|ServiceAccounts|SubjectReview|SelfSubjectReview)|"
    r"\[sig-instrumentation\] Events|"
    r"\[sig-node\] (ConfigMap|Secrets|Lease) "
)
# What is an experiment or breaks things on purpose; and what is about Pods, webhooks, quotas and other servers
# throughout: such specifications wait for minutes before they find that there are none.
LEFT_OUT = (
    r"\[(Disruptive|Flaky|Slow|NodeConformance|LinuxOnly)\]|\[Feature:|"
    "AdmissionWebhook|CustomResourceConversionWebhook|AdmissionPolicy|"
    r"Aggregator|Aggregated APIServer|1\.17 sample|"
    "ResourceQuota|priority and fairness|PodTemplates|pods created by|RS created|"
    "LeaseCandidate|coordinated|CLE|100 namespaces|chunk|"
    "health handlers"  # names the parts that a kube-apiserver is made of
)
# How the absence of a kind is told: by the server, by kubectl, and by specifications that look into discovery.
_MISSING = re.compile(
    "the server could not find the requested resource"
    "|the server doesn't have a resource type"
    "|no matches for kind"
    "|the server does not allow this method on the requested resource"
    "|Expected .*Resource=.* to be present|deployments.v1.apps should always be present"
    "|Expected (legacy )?gvr .* to exist in discovery"
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One specification."""

    name: str
    conformance: bool
    state: str  # passed, failed, skipped
    said: str

    @property
    def verdict(self) -> str:
        if self.state == "failed" and _MISSING.search(self.said):
            return "not served"
        return self.state

    @property
    def area(self) -> str:
        found = re.match(r"\[(sig-[a-z-]+)\] (.*?)(?: should | must | \[|$)", self.name)
        return f"{found[1].removeprefix('sig-')}: {found[2]}" if found else self.name


def run(kubeconfig: Path, folder: Path, focus: str) -> list[Outcome]:
    program = build(HERE / "conformance")
    report = folder / "report.json"
    kubectl = os.environ.get("KUBECTL") or shutil.which("kubectl") or "kubectl"
    command = [
        str(program),
        f"--kubeconfig={kubeconfig}",
        "--provider=skeleton",
        f"--kubectl-path={kubectl}",
        f"--report-dir={folder}",
        f"--ginkgo.focus={focus}",
        f"--ginkgo.skip={LEFT_OUT}",
        "--ginkgo.no-color",
        "--ginkgo.timeout=2h",
        f"--ginkgo.json-report={report}",
    ]
    with (folder / "specs.log").open("w") as log:
        subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False, cwd=folder)
    return [found for suite in json.loads(report.read_text()) for found in _outcomes(suite["SpecReports"] or ())]


def _outcomes(specs: Any) -> list[Outcome]:
    found = []
    for spec in specs:
        if spec["LeafNodeType"] != "It" or not spec.get("NumAttempts"):
            continue
        name = " ".join([*(spec["ContainerHierarchyTexts"] or ()), spec["LeafNodeText"]])
        said = (spec.get("Failure") or {}).get("Message", "")
        state = "passed" if spec["State"] == "passed" else "skipped" if spec["State"] == "skipped" else "failed"
        found.append(Outcome(name, "[Conformance]" in name, state, said))
    return found


def text(outcomes: list[Outcome]) -> str:
    """The table, and below it what failed."""
    verdicts = ("passed", "failed", "not served", "skipped")
    areas: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        areas.setdefault(outcome.area, Counter())[outcome.verdict] += 1
    width = max(map(len, areas), default=0)
    lines = [f"{'':{width}} " + " ".join(verdicts)]
    for area, counts in sorted(areas.items()):
        lines.append(f"{area:{width}} " + " ".join(f"{counts[each] or '-':>{len(each)}}" for each in verdicts))
    for label, some in (("all", outcomes), ("of these [Conformance]", [each for each in outcomes if each.conformance])):
        counts = Counter(each.verdict for each in some)
        lines.append(f"{label:{width}} " + " ".join(f"{counts[each]:>{len(each)}}" for each in verdicts))
    failed = [each for each in outcomes if each.verdict == "failed"]
    lines.extend(f"\nfailed: {each.name}\n  {each.said.strip()[:1500]}" for each in failed)
    return "\n".join(lines)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("words", nargs="*", help="regular expressions; all areas of an API server if none is given")
    arguments.add_argument("--keep", type=Path, help="a directory for the logs and the report")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with a_running_hub(Path(scratch)) as kubeconfig:
                outcomes = run(kubeconfig, folder, "|".join(given.words) or AREAS)
        except NoGoError as error:
            print(error)
            return 1
    print(text(outcomes))
    return 1 if any(each.verdict == "failed" for each in outcomes) or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
