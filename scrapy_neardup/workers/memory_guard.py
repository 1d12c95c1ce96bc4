"""The memory limit of a worker process."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

#: From this part of the memory limit on, what was read is not trusted.
TRUSTED_SHARE = 0.85
_STATUS = Path("/proc/self/status")


class MemoryGuard:
    """Limits the memory of this process, and detects when a page came near the limit.

    C libraries do not always report a failed allocation: libxml2 may return a partial tree, and
    lxml only prints a message where it cannot raise. So what was read of a page that came near the
    limit is not trusted.

    :param mebibytes: the limit; 0 for none.
    """

    def __init__(self, mebibytes: int) -> None:
        #: Has an allocation been refused?
        self._refused = False
        self._bound = mebibytes * 2**20
        if mebibytes and _set_data_limit(self._bound):
            size = _sizes()
            # The system keeps the peak of the virtual size, but not of the data.
            self._other = size["VmSize"] - size["VmData"] - size["VmStk"]
            # Cython reports an error that it cannot raise through the second hook.
            sys.excepthook, sys.unraisablehook = self._on_error, self._on_unraisable
        else:
            self._bound = 0

    def is_exhausted(self) -> bool:
        """Return whether this process has come near its limit since its start."""
        if not self._bound:
            return False
        return self._refused or _sizes()["VmPeak"] - self._other > TRUSTED_SHARE * self._bound

    def _on_error(self, kind: type[BaseException], error: BaseException, trace: Any, /) -> None:
        if isinstance(error, MemoryError):
            self._refused = True
        else:
            sys.__excepthook__(kind, error, trace)

    def _on_unraisable(self, unraisable: Any, /) -> None:
        if isinstance(unraisable.exc_value, MemoryError):
            self._refused = True
        else:
            sys.__unraisablehook__(unraisable)


def _set_data_limit(size: int) -> bool:
    """Limit the data segment; return ``False`` where that is not supported, or cannot be read."""
    try:
        import resource
    except ImportError:
        return False
    try:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (size, hard))
    except (OSError, ValueError):
        return False
    return _STATUS.exists()


def _sizes() -> Counter[str]:
    """Return the sizes that the system names, such as ``VmPeak``, in bytes; others are 0."""
    lines = (line.partition(":") for line in _STATUS.read_text().splitlines())
    return Counter(
        {name: int(text.split()[0]) * 1024 for name, _, text in lines if name.startswith("Vm")}
    )
