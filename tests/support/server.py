"""An HTTP server for tests and benchmarks."""

from __future__ import annotations

from benchmarks.common.site_server import Answer, Site, serving

__all__ = ["Answer", "Site", "serving"]
