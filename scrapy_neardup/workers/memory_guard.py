"""The bound on what a worker's memory may hold."""

from __future__ import annotations

import mmap
import sys
from pathlib import Path
from typing import Any

#: Near the bound of memory, from this part of it on, nothing that was read is believed.
TRUSTED_SHARE = 0.85
_STATM, _STATUS = Path("/proc/self/statm"), Path("/proc/self/status")


class MemoryGuard:
    """Bounds what this process may hold, and tells when a page came near the bound.

    C libraries do not always say that they were refused memory: libxml2 may hand over the part of
    a tree that it got done, and lxml only mutters where it cannot raise. What was read of a page
    that came near the bound is not believed.
    """

    def __init__(self, mebibytes: int) -> None:
        #: Has an allocation been refused?
        self.refused = False
        self._bound = mebibytes * 2**20
        if mebibytes and _set_data_limit(self._bound):
            virtual, data = _virtual_and_data_bytes()
            # Of the virtual size the system keeps the peak; of the data it does not.
            self._other = virtual - data
            # Cython prints such an error before it hands it on, which calls the other hook.
            sys.excepthook, sys.unraisablehook = self._on_error, self._on_unraisable
        else:
            self._bound = 0

    def is_exhausted(self) -> bool:
        """Did this process come near the bound, or beyond it, since it was started?"""
        if not self._bound:
            return False
        return self.refused or _peak_virtual_bytes() - self._other > TRUSTED_SHARE * self._bound

    def _on_error(self, kind: type[BaseException], error: BaseException, trace: Any, /) -> None:
        if isinstance(error, MemoryError):
            self.refused = True
        else:
            sys.__excepthook__(kind, error, trace)

    def _on_unraisable(self, unraisable: Any, /) -> None:
        if isinstance(unraisable.exc_value, MemoryError):
            self.refused = True
        else:
            sys.__unraisablehook__(unraisable)


def _set_data_limit(size: int) -> bool:
    """Bound this process's data; ``False`` where the system knows no such bound, or it is wide."""
    try:
        import resource
    except ImportError:
        return False
    try:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (size, hard))
    except (OSError, ValueError):
        return False
    return _STATM.exists()


def _virtual_and_data_bytes() -> tuple[int, int]:
    fields = _STATM.read_text().split()
    return int(fields[0]) * mmap.PAGESIZE, int(fields[5]) * mmap.PAGESIZE


def _peak_virtual_bytes() -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith("VmPeak:"):
            return int(line.split()[1]) * 1024
    return 0
