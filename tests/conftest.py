from __future__ import annotations

from hypothesis import settings

# Speed is measured in benchmarks/, never asserted here.
settings.register_profile("default", deadline=None)
settings.load_profile("default")
