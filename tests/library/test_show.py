"""The script that a stranger would write: it runs as it stands, and prints what its page shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "examples/10-library/fleet_report.py"


def test_the_script_prints_what_its_page_shows() -> None:
    page = (ROOT / "examples" / "10-library" / "README.md").read_text(encoding="utf-8")
    ((command, shown),) = re.findall(r"```console\n\$ (.*?)\n(.*?)```", page, re.DOTALL)
    assert command == f"python {SCRIPT}"
    done = subprocess.run([sys.executable, SCRIPT], cwd=ROOT, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (shown, "")


def test_the_page_shows_the_script() -> None:
    page = (ROOT / "examples" / "10-library" / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"```python\n(.*?)```", page, re.DOTALL) == [(ROOT / SCRIPT).read_text(encoding="utf-8")]


def test_the_script_is_short() -> None:
    lines = (ROOT / SCRIPT).read_text(encoding="utf-8").splitlines()
    assert sum(bool(line.strip()) for line in lines) <= 20
