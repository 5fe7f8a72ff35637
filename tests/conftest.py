"""Settings of the whole suite."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Final

import hypothesis
import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

# How long an example takes says nothing on a machine that does other things too.
# `make properties` tries more of everything than there is time for in every run.
hypothesis.settings.register_profile("muster", deadline=None, max_examples=int(os.environ.get("MUSTER_EXAMPLES", "50")))
hypothesis.settings.load_profile("muster")

# Defaults of whoever runs the tests are not those of the tests.
os.environ["MUSTER_CONFIG"] = os.devnull
for _name in ("MUSTER_CONTEXT", "MUSTER_NAMESPACE", "MUSTER_OUTPUT", "MUSTER_DATA"):
    os.environ.pop(_name, None)

# A shell without job control starts what is in the background with Ctrl-C ignored, and so would be all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# In CI a test that was left out has failed, unless it says one of these: what it asks for cannot be had there.
EXPECTED_SKIPS: Final = (
    "only our own server can be told to forget",
    "this user may write everything",  # CI runs as root
    "file systems cannot be mounted here",
    "a real kube-apiserver is run by `make kubernetes`",  # a step of its own
    "make test-release",  # what is tried there has to be made first
    "`make interop`",  # what builds more programs than CI has time for
    "test_without_pods says what happens without them",  # there it is tested
)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.CallInfo[None], None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]  # pluggy's result, which has no type here
    if not os.environ.get("CI") or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not any(expected in reason for expected in EXPECTED_SKIPS):
        report.outcome = "failed"
        report.longrepr = f"left out in CI, where everything runs: {reason}"
