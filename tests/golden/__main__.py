"""`python -m tests.golden [DIRECTORY]` records all outputs anew."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.golden.recording import recordings

FILES = Path(__file__).parent / "files"

if __name__ == "__main__":
    into = Path(sys.argv[1]) if len(sys.argv) > 1 else FILES
    into.mkdir(parents=True, exist_ok=True)
    for name, text in recordings():
        (into / name).write_text(text, encoding="utf-8")
