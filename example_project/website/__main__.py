"""Serve the site until standard input ends: ``python -m website [NEWS_PORT MIRROR_PORT]``.

The first line of output is the base URL of both hosts. Whoever started this process keeps its
standard input open; when that process dies, however it dies, this one ends too.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from .server import start


def main() -> None:
    ports = [int(port) for port in sys.argv[1:3]]
    print(*start(*ports), flush=True)
    with suppress(KeyboardInterrupt):
        sys.stdin.read()


main()
