"""What is plainly asked is understood as the whole command understands it; anything else is left to that."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.cli.explain import quick, showing
from muster.cli.main import run
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import Report

if TYPE_CHECKING:
    from pathlib import Path

NOBODY_SAID = {"name": "", "filename": "", "cluster": "", "namespace": None, "fleet": None, "output": "text"}
OPTIONS = [
    "--fleet",
    "--output",
    "-o",
    "--namespace",
    "-n",
    "--cluster",
    "--filename",
    "-f",
    "--kubeconfig",
    "--context",
]
WORDS = st.one_of(
    st.sampled_from([*OPTIONS, "a", "b", "-", "--", "", "json", "yaml", "text", "xml", "-h", "--help", "-oyaml", "-x"]),
    st.builds(
        lambda option, value: f"{option}={value}", st.sampled_from(OPTIONS), st.sampled_from(["", "a", "-", "json"])
    ),
)
PLAIN = st.lists(
    st.one_of(st.tuples(st.sampled_from(OPTIONS), st.sampled_from(["a", "json", "-"])), st.tuples(st.just("a"))),
    max_size=4,
).map(lambda pairs: [word for pair in pairs for word in pair])


@given(
    what=st.sampled_from(["cluster", "set", "placement", "classification", "a"]),
    rest=st.lists(WORDS, max_size=5) | PLAIN,
)
def test_what_is_read_plainly_is_what_the_whole_command_reads(what: str, rest: list[str]) -> None:
    args = ["explain", what, *rest]
    plain = quick.parsed(args)
    if plain is None:
        return
    asked: list[dict[str, Any]] = []

    def heard(what: str, names: tuple[str, ...]) -> Any:
        def explain(*given: Any) -> Exit:
            asked.append({"what": what, **dict(zip(names, given, strict=True))})
            return Exit.OK

        return explain

    common = ("fleet", "output", "context", "kubeconfig")
    with pytest.MonkeyPatch.context() as patch:
        for name in quick._VARIABLES:
            patch.delenv(name, raising=False)
        patch.setenv("XDG_CONFIG_HOME", "/nowhere")
        patch.setattr(showing, "explain_cluster", heard("cluster", ("name", *common)))
        patch.setattr(showing, "explain_set", heard("set", ("name", *common)))
        placed = ("name", "filename", "cluster", "namespace", *common)
        patch.setattr(showing, "explain_placement", heard("placement", placed))
        stderr = io.StringIO()
        assert run(args, io.StringIO(), io.StringIO(), stderr) == 0, stderr.getvalue()
    [found] = asked
    assert found.pop("context") is None
    assert found.pop("what") == plain[0]
    told = {**NOBODY_SAID, "kubeconfig": None, **plain[1]}
    assert found == {name: told[name] for name in found}


@pytest.mark.parametrize(
    ("args", "given"),
    [
        (["cluster", "a", "--fleet", "f", "--fleet=g"], ("cluster", {"name": "a", "fleet": ["f", "g"]})),
        (
            ["placement", "p", "-n", "apps", "-o", "json"],
            ("placement", {"name": "p", "namespace": "apps", "output": "json"}),
        ),
        (["set", "--kubeconfig=k", "s"], ("set", {"name": "s", "kubeconfig": "k"})),
        (["placement", "-f", "-", "--fleet", "-"], ("placement", {"filename": "-", "fleet": ["-"]})),
        (["cluster"], None),
        (["cluster", "a", "b"], None),
        (["cluster", "a", "-o", "xml"], None),
        (["cluster", "a", "--context", "c"], None),
        (["cluster", "a", "-h"], None),
        (["cluster", "a", "--fleet"], None),
        (["cluster", "a", "--fleet", "-n"], None),
        (["set", "s", "-n", "apps"], None),
        (["classification", "c"], None),
    ],
)
def test_the_plainest_lines_are_read_and_no_others(args: list[str], given: object) -> None:
    assert quick.parsed(["explain", *args]) == given


@pytest.mark.parametrize("variable", quick._VARIABLES)
def test_whoever_has_settings_asks_the_whole_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str
) -> None:
    monkeypatch.setattr(quick, "_explained", lambda *_: 0)
    for name in quick._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    args = ["explain", "cluster", "a", "--fleet", "f"]
    assert quick.explained(args) == 0
    with monkeypatch.context() as named:
        named.setenv(variable, "x")
        assert quick.explained(args) is None
    (tmp_path / "muster").mkdir()
    (tmp_path / "muster" / "config.yaml").write_text("output: yaml\n", encoding="utf-8")
    assert quick.explained(args) is None


def test_what_goes_wrong_is_told_in_the_same_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in quick._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "fleet.json"
    file.write_text('{"apiVersion":"v1","kind":"ManagedCluster","metadata":{"name":"c1"}}\n', encoding="utf-8")
    for words in (["cluster", "c2", "--fleet", str(file)], ["set", "s", "--fleet", str(tmp_path / "none")]):
        whole = io.StringIO()
        code = run(["explain", *words], io.StringIO(), io.StringIO(), whole)
        assert quick.explained(["explain", *words]) == code == 2
        assert capsys.readouterr().err == whole.getvalue() != ""


def test_reports_are_printed_as_asked() -> None:
    assert tuple(Report) == quick._OUTPUTS
