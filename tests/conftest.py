"""Settings of the whole suite."""

from __future__ import annotations

import hypothesis

# How long an example takes says nothing on a machine that does other things too.
hypothesis.settings.register_profile("muster", deadline=None)
hypothesis.settings.load_profile("muster")
