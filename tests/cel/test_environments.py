"""The named environments, and the guide that shows how to extend them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from muster.cel.environments import NAMES, UnknownEnvironmentError, environment
from tests.cel.libraries.evaluation import diagnostics_of, value_of

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "extending-cel.md"


def first_with(text: str) -> str:
    """The first Kubernetes version whose environment takes the expression."""
    return next(name for name in NAMES if name.startswith("kubernetes-") and not diagnostics_of(text, name))


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("quantity('1').isInteger()", "kubernetes-1.28"),
        ("'%d'.format([1])", "kubernetes-1.29"),
        ("sets.contains([1], [1])", "kubernetes-1.29"),
        ("isIP('::1')", "kubernetes-1.30"),
        ("format.uuid().validate('x').hasValue()", "kubernetes-1.31"),
        ("[1].all(i, v, v > 0)", "kubernetes-1.32"),
        ("isSemver('v1', true)", "kubernetes-1.33"),
        ("[2, 1].sort() == [1, 2]", "kubernetes-1.34"),
        ("[1].includes(1)", "kubernetes-1.37"),
    ],
)
def test_kubernetes_versions_bring_their_libraries(text: str, version: str) -> None:
    assert first_with(text) == version


def test_kubernetes_validates_literals_since_1_29_and_mixed_lists_always() -> None:
    folded = ["type conversion error from 'string' to 'google.protobuf.Duration'"]  # found while folding constants
    assert diagnostics_of("duration('x') == duration('1s')", "kubernetes-1.28") == folded
    assert diagnostics_of("duration('x') == duration('1s')", "kubernetes-1.29") == ["invalid duration argument"]
    assert diagnostics_of("[1, 'a'] == []", "kubernetes-1.28") == ["expected type 'int' but found 'string'"]


def test_ocm_has_no_normalising_semver_but_muster_has() -> None:
    assert diagnostics_of("isSemver('v1', true)", "ocm") != []
    assert value_of("isSemver('v1', true)", "muster") is True


@pytest.mark.parametrize(
    "text",
    [
        "managedCluster.scores('x').size() > 0",
        "'{}'.parseJSON() == {}",
        "[1, 'a'].size() == 2",
        "semver('1.2.3').major() == 1",
        "duration('x') == duration('1s')",
        "cidr('10.0.0.0/8').containsIP('10.0.0.1')",
        "managedCluster.?metadata.orValue({}) == {}",
    ],
)
def test_muster_accepts_whatever_ocm_accepts(text: str) -> None:
    assert diagnostics_of(text, "ocm") == []
    assert diagnostics_of(text, "muster") == []


def test_every_function_of_ocm_is_in_muster() -> None:
    ours = environment("muster").overloads
    assert set(environment("ocm").overloads) <= set(ours)


def test_an_environment_is_built_once() -> None:
    assert environment("muster") is environment("muster")


def test_an_unknown_environment_names_the_known_ones() -> None:
    with pytest.raises(UnknownEnvironmentError) as caught:
        environment("kubernetes-1.5")
    assert str(caught.value).startswith("unknown CEL environment 'kubernetes-1.5': choose one of kubernetes-1.28, ")


def test_the_example_of_the_guide_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(GUIDE), "exec"), {"__name__": "guide"})
