"""Loads what forked workers share; imported by the fork server.

Errors are ignored: what fails here fails again in the worker, which reports why.
"""

from __future__ import annotations

import gc
from contextlib import suppress

from ..signatures.signer import Signer

with suppress(Exception):
    # Signing a page loads the dictionary, the tables and the patterns of all libraries.
    Signer(secret=bytes(16)).sign_html(
        "https://example.com/", "<title>ready</title><p>The first page. 第一个网页。</p>"
    )
# Keeps the workers' garbage collectors from touching, and so copying, the shared memory.
gc.freeze()
