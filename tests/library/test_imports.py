"""What importing brings, and what it does not: no server, no solver, no numpy, and hardly any time."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import muster
import muster.cel
import muster.jq
import muster.placement
from tests.builders import a_cluster, a_placement, a_taint
from tests.hub.rest.asking import asked_hub

HEAVY = ("numpy", "pysat", "starlette", "uvicorn", "aiohttp", "asyncio", "sqlite3", "ssl", "typer", "rich", "yaml")
LATER = dict.fromkeys(("muster", "muster.cel", "muster.jq"), (*HEAVY, "msgspec", "re2"))


def imported(statement: str, environment: dict[str, str]) -> list[str]:
    """The milliseconds of CPU time that a statement takes, and the modules that are there then."""
    script = (
        "import sys, time\n"
        "before = time.process_time()\n"
        f"{statement}\n"
        "print(round((time.process_time() - before) * 1000, 1), *sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which modules are compiled once, as in an installation."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}


@pytest.mark.parametrize("module", LATER)
def test_importing_brings_neither_server_nor_solver_nor_numpy(module: str, compiled: dict[str, str]) -> None:
    _, *modules = imported(f"import {module}", compiled)
    assert module in modules
    assert set(modules).isdisjoint(LATER[module])


def test_an_expression_needs_neither_server_nor_solver_nor_numpy(compiled: dict[str, str]) -> None:
    program = 'cel.compile_program("1 + 1 == 2", cel.environment("standard")).evaluate({})'
    _, *modules = imported(f"import muster.cel as cel; assert {program}", compiled)
    assert set(modules).isdisjoint(HEAVY)


def test_a_query_needs_neither_server_nor_solver_nor_numpy(compiled: dict[str, str]) -> None:
    query = 'jq.compile_query(".a + 1").run({"a": 1}) == [2]'
    _, *modules = imported(f"import muster.jq as jq; assert {query}", compiled)
    assert set(modules).isdisjoint(HEAVY)


def test_importing_cel_takes_less_than_a_tenth_of_a_second(compiled: dict[str, str]) -> None:
    imported("import muster.cel", compiled)
    assert min(float(imported("import muster.cel", compiled)[0]) for _ in range(3)) < 100


@pytest.mark.parametrize(
    "package",
    [
        "muster",
        "muster.admission",
        "muster.api",
        "muster.cel",
        "muster.jq",
        "muster.placement",
        "muster.selectors",
        "muster.supervision",
    ],
)
def test_lazy_names_are_those_that_type_checkers_see(package: str) -> None:
    module = import_module(package)
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    seen: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for each in node.body:
                assert isinstance(each, ast.ImportFrom)
                seen |= {name.name: str(each.module) for name in each.names}
    promised = {name for name in module.__all__ if name != "__version__"}
    assert set(seen) <= promised
    for name, home in seen.items():
        found = getattr(module, name)
        expected = import_module(f"{home}.{name}") if home == package else getattr(import_module(home), name)
        assert found is expected
    assert {name for name in dir(module) if not name.startswith("_")} == promised
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = module.nothing


def test_help_says_what_there_is() -> None:
    assert muster.__doc__ is not None
    for name in ("load", "select", "explain", "plan", "lint", "classify", "resolve", "muster.cel", "muster.jq"):
        assert f"    {name}" in muster.__doc__ or f" {name}" in muster.__doc__


def test_the_example_of_the_package_runs_before_and_after_anything_else_is_imported() -> None:
    env = muster.cel.environment("standard").with_variables(cluster=muster.cel.DYN)
    assert muster.cel.compile_program("cluster.a == 1", env).evaluate({"cluster": {"a": 1}}) is True
    import_module("muster.cel.environment")  # a module of the name of a function: the function must stay
    assert muster.cel.environment("standard").name == "standard"


def test_the_folder_of_schedules_does_not_hide_the_function_of_that_name() -> None:
    import_module("muster.placement.schedule.pipeline")
    assert callable(muster.placement.schedule)


NOT_FOR_EXPLAINING = ("pydantic", "aiohttp", "pysat", "yaml", "prometheus_client", "muster.jq", "muster.resolution")


def test_a_replica_that_only_says_how_it_is_brings_neither_admission_nor_languages(compiled: dict[str, str]) -> None:
    _, *modules = imported("import muster.kubernetes.serving.replica", compiled)
    assert "muster.kubernetes.serving.health" in modules
    assert set(modules).isdisjoint(("numpy", "muster.cel", "muster.jq", "muster.admission", "muster.hub.storage"))


def test_explaining_files_brings_only_what_explaining_takes(compiled: dict[str, str], tmp_path: Path) -> None:
    objects = [
        {"apiVersion": "v1", "kind": "ManagedCluster", "metadata": {"name": "c"}},
        {"apiVersion": "v1", "kind": "Placement", "metadata": {"name": "p", "namespace": "n"}, "spec": {}},
    ]
    without_settings = {name: value for name, value in compiled.items() if name != "MUSTER_CONFIG"}
    environment = {**without_settings, "XDG_CONFIG_HOME": str(tmp_path)}
    file = tmp_path / "fleet.json"
    file.write_text("\n".join(map(json.dumps, objects)), encoding="utf-8")
    for words in (["cluster", "c"], ["placement", "p"]):
        call = f"import io, sys; from muster.cli.main import run; out = io.StringIO(); args = {words!r}; "
        done = (
            f"assert run(['explain', *args, '--fleet', {str(file)!r}], sys.stdin, out, sys.stderr) == 0, out.getvalue()"
        )
        _, *modules = imported(call + done, environment)
        assert set(modules) & set(NOT_FOR_EXPLAINING) == set()


NOT_WHEN_PLAINLY_ASKED = (
    *NOT_FOR_EXPLAINING,
    "typer",
    "muster.cli.main",
    "muster.api.schema",
    "muster.cel.syntax.recovery",
    "muster.placement.guards",
    "zoneinfo",
)


def test_what_is_plainly_asked_brings_neither_a_reader_of_command_lines_nor_schemas(
    compiled: dict[str, str], tmp_path: Path
) -> None:
    without = {name: value for name, value in compiled.items() if not name.startswith("MUSTER_")}
    environment = {**without, "XDG_CONFIG_HOME": str(tmp_path)}
    file = tmp_path / "fleet.json"
    file.write_text('{"apiVersion": "v1", "kind": "ManagedCluster", "metadata": {"name": "c"}}', encoding="utf-8")
    call = "import contextlib, io; from muster.cli.explain.quick import explained\n"
    words = ["explain", "cluster", "c", "--fleet", str(file)]
    call += f"with contextlib.redirect_stdout(io.StringIO()): assert explained({words!r}) == 0\n"
    _, *modules = imported(call, environment)
    assert set(modules) & set(NOT_WHEN_PLAINLY_ASKED) == set()


def test_who_explains_one_placement_brings_no_language_for_the_expressions_of_others(
    compiled: dict[str, str], tmp_path: Path
) -> None:
    without = {name: value for name, value in compiled.items() if not name.startswith("MUSTER_")}
    environment = {**without, "XDG_CONFIG_HOME": str(tmp_path)}
    expression = {"celSelector": {"celExpressions": ["true"]}}
    objects = [
        a_cluster("c"),
        a_cluster("tainted", taints=[a_taint("gpu")]),
        a_placement("p"),
        a_placement("other", predicates=[{"requiredClusterSelector": expression}]),
    ]
    file = tmp_path / "fleet.json"
    file.write_text("\n".join(map(json.dumps, objects)), encoding="utf-8")
    loaded = {}
    for name in ("p", "other"):
        call = "import contextlib, io; from muster.cli.explain.quick import explained\n"
        words = ["explain", "placement", name, "--fleet", str(file)]
        call += f"with contextlib.redirect_stdout(io.StringIO()): assert explained({words!r}) == 0\n"
        loaded[name] = set(imported(call, environment)[1:])
    language = {"muster.cel", "muster.cel.program", "muster.cel.environments"}
    assert loaded["p"] & {*language, *NOT_WHEN_PLAINLY_ASKED, "numpy.ma"} == set()
    assert loaded["other"] >= language


NOT_FOR_ASKING = (
    *(each for each in NOT_FOR_EXPLAINING if each != "yaml"),
    "numpy",
    "re2",
    "muster.cel",
    "muster.controllers",
    "muster.fleet",
    "muster.hub",
    "muster.placement.schedule.cycle",
)


def test_asking_a_hub_brings_neither_a_fleet_nor_a_language_nor_an_http_library(
    compiled: dict[str, str], tmp_path: Path
) -> None:
    without_settings = {name: value for name, value in compiled.items() if name != "MUSTER_CONFIG"}
    environment = {**without_settings, "XDG_CONFIG_HOME": str(tmp_path), "KUBECONFIG": str(tmp_path / "kubeconfig")}
    state = tmp_path / "state"
    state.mkdir()
    with asked_hub(state) as asker:
        config = {
            "current-context": "hub",
            "contexts": [{"name": "hub", "context": {"cluster": "hub", "user": "me"}}],
            "clusters": [{"name": "hub", "cluster": {"server": asker.hub.url}}],
            "users": [{"name": "me", "user": {"token": asker.hub.token}}],
        }
        (tmp_path / "kubeconfig").write_text(json.dumps(config), encoding="utf-8")
        for words in (["cluster", "visible-1"], ["placement", "p1", "-n", "apps"], ["set", "global"]):
            call = f"import io, sys; from muster.cli.main import run; out = io.StringIO(); args = {words!r}; "
            done = "assert run(['explain', *args], sys.stdin, out, sys.stderr) == 0; assert out.getvalue()"
            _, *modules = imported(call + done, environment)
            assert set(modules) & set(NOT_FOR_ASKING) == set()
