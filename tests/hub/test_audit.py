"""The audit log."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from muster.hub import audit
from muster.hub.audit import AuditLevel, AuditLog, AuditSettings, Entry, written_object

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def entry(**members: Any) -> Entry:
    return Entry(time=NOW, id="i", **members)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def has_problem(log: AuditLog) -> bool:
    return log.problem is not None


def test_entries_become_lines_without_what_is_empty(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.log")
    log.record(entry(user="alice", verb="create", resource="secrets", code=201, revision="7"))
    log.record(entry(user="bob", actor="admin", code=403, decision="deny"))
    log.close()
    time = "2026-01-02T03:04:05Z"
    assert lines(tmp_path / "audit.log") == [
        {
            "time": time,
            "id": "i",
            "user": "alice",
            "verb": "create",
            "resource": "secrets",
            "code": 201,
            "revision": "7",
        },
        {"time": time, "id": "i", "user": "bob", "actor": "admin", "code": 403, "decision": "deny"},
    ]
    assert (tmp_path / "audit.log").stat().st_mode & 0o777 == 0o600


def test_a_line_stays_a_line_whatever_a_client_calls_itself(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.log")
    log.record(entry(agent='x\n{"user":"admin"}\n', path="/" + "a" * 10_000))
    log.close()
    (line,) = lines(tmp_path / "audit.log")
    assert (line["agent"], len(line["path"])) == ('x\n{"user":"admin"}\n', 513)


def test_files_are_rotated_and_the_oldest_goes(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.log", AuditSettings(file_bytes=400, files=3))
    for number in range(60):
        log.record(entry(user=f"user{number:03}"))
        if number % 3 == 2:
            while log._waiting.qsize():
                pass
    log.close()
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["audit.log", "audit.log.1", "audit.log.2"]
    users = [line["user"] for name in reversed(files) for line in lines(tmp_path / name)]
    assert users == sorted(users)
    assert users[-1] == "user059"


def test_lines_of_a_moment_are_written_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a write the thread lets lines gather, and whoever closes the log does not wait for that."""
    monkeypatch.setattr(audit, "_PAUSE", 60.0)
    sizes: list[int] = []
    written = AuditLog._write

    def write(log: AuditLog, entries: list[Entry]) -> None:
        written(log, entries)
        sizes.append(len(entries))

    monkeypatch.setattr(AuditLog, "_write", write)
    log = AuditLog(tmp_path / "audit.log")
    log.record(entry(user="first"))
    while not sizes:
        time.sleep(0.001)
    for number in range(5):
        log.record(entry(user=f"user{number}"))
        time.sleep(0.002)
    assert sizes == [1]
    log.close()
    assert sizes == [1, 5]
    assert [line["user"] for line in lines(tmp_path / "audit.log")] == ["first", *(f"user{each}" for each in range(5))]


def test_what_cannot_be_written_is_a_problem_until_it_can(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "audit.log"
    log = AuditLog(path)
    log.record(entry(user="a"))
    while not has_problem(log):
        pass
    path.parent.mkdir()
    log.record(entry(user="b"))
    log.close()
    assert not has_problem(log)
    assert [line["user"] for line in lines(path) if "user" in line] == ["b"]
    assert [line["dropped"] for line in lines(path) if "dropped" in line] == [1]


def test_a_log_that_can_be_written_again_is_no_problem_though_nothing_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "audit.log"
    log = AuditLog(path)
    log.record(entry(user="a"))
    while not has_problem(log):
        pass
    path.parent.mkdir()
    while has_problem(log):
        pass
    log.close()
    assert [line["dropped"] for line in lines(path)] == [1]


def test_levels_say_what_is_recorded(tmp_path: Path) -> None:
    asked = [
        ("create", "placements", 201, False),
        ("get", "placements", 200, False),
        ("get", "placements", 403, False),
        ("list", "secrets", 200, False),
        ("get", "placements", 200, True),
    ]
    wanted = {
        AuditLevel.OFF: [False] * 5,
        AuditLevel.WRITES: [True, False, True, True, True],
        AuditLevel.ALL: [True] * 5,
    }
    for level, expected in wanted.items():
        log = AuditLog(tmp_path / f"{level}.log", AuditSettings(level))
        found = [log.wants(verb, resource, code, acting=acting) for verb, resource, code, acting in asked]
        log.close()
        assert (level, found) == (level, expected)


def test_the_name_and_revision_of_an_answer() -> None:
    assert written_object(b'{"kind":"X","metadata":{"name":"a","resourceVersion":"7"},"data":{"token":"t"}}') == (
        "a",
        "7",
    )
    assert written_object(b"not json") == ("", "")
