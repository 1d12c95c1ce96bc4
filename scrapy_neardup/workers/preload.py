"""Imported by the process that workers are forked from: what they need is loaded once, and shared.

Whatever fails here fails again in the worker, which says why.
"""

from __future__ import annotations

import gc
from contextlib import suppress

from ..signatures.signature import Signer

with suppress(Exception):
    # The first page makes the dictionary, the tables and the patterns of every library ready.
    Signer(secret=bytes(16)).sign_html(
        "https://example.com/", "<title>ready</title><p>The first page. 第一个网页。</p>"
    )
# Their garbage collector leaves alone what they share, or it would be copied.
gc.freeze()
