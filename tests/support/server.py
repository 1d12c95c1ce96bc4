"""The HTTP server that tests and benchmarks share."""

from __future__ import annotations

from benchmarks.common.site_server import Answer, Site, serving

__all__ = ["Answer", "Site", "serving"]
