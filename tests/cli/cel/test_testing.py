"""`muster cel test` and `muster cel migrate`, run as the shell runs them."""

from __future__ import annotations

import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.cel.test_command import muster

EXAMPLES = Path(__file__).parents[3] / "examples" / "07-cel-tests"


def _write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_the_examples_pass() -> None:
    done = muster("test", str(EXAMPLES))
    assert done.code == 0, done.out
    assert "21 passed, 0 failed" in done.out


def test_a_case_that_fails_says_what_was_expected_and_what_was_found(tmp_path: Path) -> None:
    file = _write(
        tmp_path, "a.test.yaml", "{expression: count + 1, cases: [{name: one, given: {count: 1}, expect: 3}]}"
    )
    done = muster("test", file)
    assert done.code == 1
    assert "expected 3, found 2" in done.out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{cases: []}", "say one of them"),
        ("{expression: 'count +', cases: []}", "Syntax error"),
        ("{expression: count, cases: [{given: {count: 1}, expct: 1}]}", "did you mean 'expect'?"),
        ("{expression: count, environment: nowhere, cases: []}", "there is no environment"),
        ("{manifest: none.yaml, cases: []}", "No such file"),
        ("{expression: count, cases: 3}", "cases"),
        ("[1]", "a document is an object"),
        ("{expression: count, casse: []}", "a table has no field 'casse'; did you mean 'cases'?"),
        ("{expression: count}", "a table has `cases`"),
        ("{expression: '1', kubernetes: 1.30, cases: [{expect: 1}]}", "a version needs quotes"),
        ("{expression: '1', cases: []}", "the table has no cases"),
        ("", "there is no table in this file"),
        ("{expression: '1', cases: [5]}", "table.cases[0]: expected a mapping, not a number"),
        ("{kind: Placement, spec: {}}", "this is a Placement: a test file names it as `manifest`"),
        ("{expression: count, variables: {count: number}, cases: []}", "is not the name of a type"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path: Path, text: str, words: str) -> None:
    done = muster("test", _write(tmp_path, "a.test.yaml", text))
    assert done.code in (1, 2)
    assert words in done.out + done.err
    assert "Traceback" not in done.err


def test_update_writes_what_was_found_and_leaves_the_rest(tmp_path: Path) -> None:
    text = (
        "# a comment that stays\n"
        "expression: count + 1\n"
        "cases:\n"
        "  - {given: {count: 1}, expect: 7}  # one\n"
        "  - name: two\n"
        "    given: {count: 2}\n"
        "    expect:\n"
        "      - a\n"
        "      - b\n"
        "  - given: {count: x}\n"
        "    error: something else\n"
    )
    file = _write(tmp_path, "a.test.yaml", text)
    assert muster("test", file).code == 1
    assert muster("test", file, "--update").code == 0
    after = Path(file).read_text()
    assert "# a comment that stays" in after
    assert "{given: {count: 1}, expect: 2}  # one" in after
    done = muster("test", file)
    assert done.code == 0, after + done.out


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("expression: q\ncases:\n- given: {q: 1}\n  error: gone  # why\n", "  expect: 1  # why\n"),
        ("expression: 1 / q\ncases:\n- {given: {q: 0}, expect: 1}\n", "{given: {q: 0}, error: division by zero}"),
        ("expression: q\ncases: [{given: {q: yes sir}, expect: maybe}]\n", "expect: yes sir}"),
        (
            "manifest: p.yaml\ncases:\n- object: {q: 1}\n  message: too few  # stale\n  expect: denied\n# end\n",
            "- object: {q: 1}\n  expect: allowed\n# end\n",
        ),
        ("manifest: p.yaml\ncases:\n- {object: {q: 1}, expect: denied, message: few}\n", "{q: 1}, expect: allowed}"),
        ("manifest: p.yaml\ncases:\n- message: few\n  object: {q: 1}\n  expect: denied\n", "\n- object: {q: 1}\n"),
        (
            "manifest: p.yaml\ncases:\n- {object: {q: 1}, expect: allowed, annotations: {q: x}}\n",
            'annotations: {"q": "1"}}',
        ),
    ],
)
def test_after_an_update_every_case_passes(tmp_path: Path, text: str, after: str) -> None:
    spec = (
        "{validations: [{expression: object.q > 0}], auditAnnotations: [{key: q, valueExpression: string(object.q)}]}"
    )
    _write(tmp_path, "p.yaml", f"{{kind: ValidatingAdmissionPolicy, metadata: {{name: p}}, spec: {spec}}}")
    file = _write(tmp_path, "a.test.yaml", text)
    assert muster("test", file).code == 1
    assert muster("test", file, "--update").code == 0
    assert after in Path(file).read_text()
    assert muster("test", file).code == 0, Path(file).read_text()


def test_a_policy_that_changes_is_caught(tmp_path: Path) -> None:
    for name in ("replicas.yaml", "replicas.test.yaml"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    policy = tmp_path / "replicas.yaml"
    policy.write_text(policy.read_text().replace("<= variables.most", "<= 100"))
    done = muster("test", str(tmp_path))
    assert done.code == 1
    assert "expected denied, found allowed" in done.out


def test_the_failure_policy_says_what_an_error_means(tmp_path: Path) -> None:
    for name in ("replicas.yaml", "replicas.test.yaml"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    policy = tmp_path / "replicas.yaml"
    policy.write_text(policy.read_text().replace("failurePolicy: Fail", "failurePolicy: Ignore"))
    assert (
        "a parameter that is no number stops everybody\n      expected denied, found allowed"
        in muster("test", str(tmp_path)).out
    )


def test_coverage_names_what_no_case_brought_about(tmp_path: Path) -> None:
    table = "{expression: 'a || b', cases: [{given: {a: true, b: false}, expect: true}]}"
    file = _write(tmp_path, "a.test.yaml", table)
    done = muster("test", file, "--coverage")
    assert "never false: a" in done.out
    assert "never true: b" in done.out
    assert muster("test", file, "--least", "90").code == 1
    assert muster("test", file, "--least", "10").code == 0


def test_junit_has_every_case(tmp_path: Path) -> None:
    cases = "[{name: '<&>', given: {count: 1}, expect: 2}, {given: {count: 1}, expect: 3}]"
    file = _write(tmp_path, "a.test.yaml", f"{{expression: count + 1, cases: {cases}}}")
    muster("test", file, "--junit", str(tmp_path / "out.xml"))
    root = ET.parse(tmp_path / "out.xml").getroot()
    assert [case.get("name") for case in root.iter("testcase")] == ["<&>", "case 2"]
    assert [failure.get("message") for failure in root.iter("failure")] == ["expected 3, found 2"]


CONDITIONS = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- {name: a.example.com, matchConditions: [{name: c, expression: "object.metadata.name != 'kept'"}]}
- {name: b.example.com, matchConditions: [{name: c, expression: "request.operation == 'DELETE'"}]}
"""


def test_match_conditions_of_a_webhook(tmp_path: Path) -> None:
    _write(tmp_path, "hooks.yaml", CONDITIONS)
    cases = (
        "[{object: {metadata: {name: a}}, expect: allowed}, {object: {metadata: {name: kept}}, expect: not matched}]"
    )
    file = _write(tmp_path, "a.test.yaml", f"{{manifest: hooks.yaml, part: a.example.com, cases: {cases}}}")
    done = muster("test", file)
    assert done.code == 0, done.out + done.err
    file = _write(tmp_path, "b.test.yaml", "{manifest: hooks.yaml, cases: []}")
    assert "say with `part` which webhook is meant" in muster("test", file).err
    deleted = "{manifest: hooks.yaml, part: b.example.com, cases: [{oldObject: {}, expect: allowed}]}"
    assert muster("test", _write(tmp_path, "c.test.yaml", deleted)).code == 0


def test_a_typed_object_is_checked_against_its_definition(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "widgets.yaml", tmp_path / "widgets.yaml")
    _write(
        tmp_path,
        "policy.yaml",
        "{kind: ValidatingAdmissionPolicy, metadata: {name: p}, "
        "spec: {validations: [{expression: object.spec.leats > 1}]}}",
    )
    file = _write(tmp_path, "a.test.yaml", "{manifest: policy.yaml, types: [widgets.yaml], cases: []}")
    assert "undefined field 'leats'" in muster("test", file).err


PLACEMENT = """
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: p, namespace: n}
spec:
  predicates:
  - requiredClusterSelector:
      labelSelector: {matchLabels: {cloud: Amazon}}
      celSelector: {celExpressions: ["semver(managedCluster.status.version.kubernetes, true).major() == 1"]}
"""


def test_predicates_of_a_placement(tmp_path: Path) -> None:
    _write(tmp_path, "p.yaml", PLACEMENT)
    cluster = "{metadata: {name: a, labels: {cloud: CLOUD}}, status: {version: {kubernetes: v1.30.1}}}"
    cases = [
        f"{{object: {cluster.replace('CLOUD', 'Amazon')}, expect: allowed}}",
        f"{{object: {cluster.replace('CLOUD', 'Azure')}, expect: denied, message: cloud}}",
    ]
    done = muster("test", _write(tmp_path, "a.test.yaml", f"{{manifest: p.yaml, cases: [{', '.join(cases)}]}}"))
    assert done.code == 0, done.out + done.err


def test_migrate_finds_what_an_older_version_does_not_have(tmp_path: Path) -> None:
    policy = "{kind: ValidatingAdmissionPolicy, metadata: {name: p}, spec: {validations: [{expression: %s}]}}"
    file = _write(tmp_path, "p.yaml", policy % "\"isSemver('1.2.3')\"")
    done = muster("migrate", file, "--from", "1.34", "--to", "1.30")
    assert done.code == 1
    assert "does not compile with 1.30" in done.out
    done = muster("migrate", file, "--from", "1.30", "--to", "1.34")
    assert done.code == 0
    assert "compiles with 1.34, not with 1.30" in done.out
    assert muster("migrate", str(EXAMPLES), "--from", "1.30", "--to", "1.36").code == 0
    assert muster("migrate", file, "--from", "1.30", "--to", "1.99").code == 2


GUIDE = (EXAMPLES.parents[1] / "docs" / "guides" / "testing-expressions.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "shown"), re.findall(r"```console\n\$ muster cel (.*?)\n(.*?)```", GUIDE, re.DOTALL)
)
def test_the_guide_prints_what_it_shows(command: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES.parents[1])
    pattern = ".*".join(re.escape(part) for part in shown.split("…"))
    done = muster(*command.split())
    assert re.fullmatch(pattern, done.out, re.DOTALL), done.out
