"""Every command that a page shows is typed by a test, or stands here with the reason why it is not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

ROOT = Path(__file__).resolve().parents[1]

PLAIN: Final = "tests/e2e/test_plain_pages.py"  # types what stands without anything printed below it
# Pages whose commands a test types, all of them.
TYPED: Final = {
    "README.md": "tests/e2e/test_first_steps.py",
    "docs/comparisons.md": "tests/test_task_pages.py",
    "docs/guides/classifying-hosts.md": PLAIN,
    "docs/guides/cluster-sets.md": "tests/e2e/test_cluster_sets_guide.py",
    "docs/guides/coming-from-others.md": "tests/test_task_pages.py",
    "docs/guides/history-and-plan.md": "tests/e2e/test_history_and_plan.py",
    "docs/guides/joining-clusters.md": "tests/e2e/test_joining_guide.py",
    "docs/guides/recipes.md": "tests/test_task_pages.py",
    "docs/guides/resolving-operators.md": "tests/resolution/test_docs.py",
    "docs/guides/testing-expressions.md": "tests/cli/cel/test_testing.py",
    "docs/guides/users-and-roles.md": PLAIN,
    "docs/guides/why-not.md": "tests/test_guides.py",
    "docs/guides/your-fleet.md": "tests/kubernetes/test_your_fleet.py",
    "docs/reference/questions.md": "tests/e2e/test_questions.py",
    "docs/tutorial.md": "tests/e2e/test_tutorial.py",
    "examples/02-classify-hosts/README.md": "tests/cli/classify/test_command.py",
    "examples/03-resolve-operators/README.md": PLAIN,
    "examples/10-library/README.md": "tests/library/test_show.py",
}
# Beginnings of the commands of other pages: who tries what they do, or why nobody does.
ELSEWHERE: Final = {
    "crane push": "needs somebody's registry; tests/release/test_image.py pushes to one of its own and validates",
    "curl -s http://127.0.0.1:8086/api/v1/getparams.execute": "tests/argocd/test_serving.py asks the same",
    "kubectl apply -f deploy/argocd/cluster-decision-resource.yaml": "needs Argo CD: tests/argocd has its generators",
    "kubectl apply -f managedclusteraddons.crd.yaml": "tests/e2e/test_custom_kinds.py applies a definition like it",
    "kubectl get managedclusteraddons": "tests/e2e/test_custom_kinds.py",
    "kubectl create -f question.yaml": "tests/e2e/test_questions.py creates each of the questions",
    "kubectl create clusterrolebinding fleet-admins": "the roles are tried by tests/kubernetes",
    "kubectl get placementdecisions": "tests/controllers/placements/test_generations.py adds up the same digest",
    "make image": "minutes: tests/release/test_image.py tries what it has made (make test-release)",
    "muster approve placement": "tests/cli/test_approve.py",
    "muster argocd serve": "tests/argocd/test_serving.py",
    "muster hub repair": "needs a damaged file: tests/hub/storage damages one",
    "muster hub restore": "needs a backup: tests/hub/storage makes one",
    "muster plan -f classifications.yaml": "over hosts that the page has not; tests/cli/plan has plans of such changes",
    "muster kubernetes": "needs Kubernetes: tests/kubernetes runs them against a real kube-apiserver",
    "openssl rand": "tests/argocd/test_serving.py has a token of its own",
    "podman run": "needs podman and a registry; tests/release/test_image.py starts the image from its layers",
}


def pages() -> list[str]:
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    return sorted(path.relative_to(ROOT).as_posix() for path in found if "decisions" not in path.parts)


def commands(page: str, printing: bool = False) -> list[str]:
    """Those of a page, or only those with what they print below them."""
    found = []
    for kind, block in re.findall(r"```(console|sh)\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL):
        if printing and kind == "sh":
            continue
        marks = r"^\$ (.+)$" if kind == "console" else r"^(?!#)(\S.*)$"
        found += re.findall(marks, block, re.MULTILINE)
    return found


@pytest.mark.parametrize("page", [page for page in pages() if commands(page)])
def test_every_command_is_typed_by_a_test_or_says_why_not(page: str) -> None:
    if page in TYPED:
        test = (ROOT / TYPED[page]).read_text(encoding="utf-8")
        assert page.split("/")[-2 if page.endswith("README.md") and "/" in page else -1] in test
        if TYPED[page] != PLAIN:
            return
    assert [command for command in commands(page, page in TYPED) if not command.startswith(tuple(ELSEWHERE))] == []


def test_no_reason_outlives_its_command() -> None:
    others = [page for page in pages() if TYPED.get(page, PLAIN) == PLAIN]
    shown = [command for page in others for command in commands(page, page in TYPED)]
    assert [each for each in ELSEWHERE if not any(command.startswith(each) for command in shown)] == []
    assert [page for page in TYPED if not commands(page)] == []
