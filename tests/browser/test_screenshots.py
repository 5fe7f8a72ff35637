"""The pictures of the guide: every screen in both themes. `MUSTER_SCREENSHOTS` names the folder they are kept in."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import SCHEMES, SCREENS, settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page


@pytest.mark.parametrize("screen", SCREENS)
def test_a_screen_can_be_seen(open_at: Callable[[str], Page], tmp_path: Path, screen: str) -> None:
    folder = Path(os.environ.get("MUSTER_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    page = open_at(SCREENS[screen])
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        settled(page)
        picture = folder / f"{screen}-{scheme}.png"
        page.screenshot(path=picture, animations="disabled", caret="hide")
        if smaller := shutil.which("pngquant"):  # a quarter of the size, for those that are kept
            subprocess.run([smaller, "--force", "--skip-if-larger", "--output", picture, picture], check=False)
        assert picture.stat().st_size > 10_000
