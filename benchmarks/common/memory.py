"""Measures the memory of this process; imports nothing that would add to it."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

#: A large page.
_PAGE_BYTES = 8 << 20


def free_as_a_crawl() -> None:
    """Leave the allocator as pages of some megabytes do that were held and let go of.

    Until a block as large has been freed, glibc asks the system for each large block anew, and
    pays for its pages (mallopt(3), M_MMAP_THRESHOLD); a lookup may take twice the time by that.
    """
    del bytearray(_PAGE_BYTES)[:]


def resident_bytes() -> int:
    """Return the resident memory of this process; read from ``/proc``, on Linux only."""
    gc.collect()
    [line] = [
        line
        for line in Path("/proc/self/status").read_text("ascii").splitlines()
        if line.startswith("VmRSS:")
    ]
    return 1024 * int(line.split()[1])


def peak_bytes() -> int:
    """Most that this process has held so far, on any POSIX system."""
    # In bytes on macOS, in kilobytes elsewhere.
    unit = 1 if sys.platform == "darwin" else 1024
    return getrusage(RUSAGE_SELF).ru_maxrss * unit
