"""Imports the packages that a benchmark compares with, or says why one is unavailable."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from importlib.metadata import version


@dataclass(frozen=True)
class Package:
    """Something to compare with.

    :ivar name: its name in tables.
    :ivar package: the name of its distribution.
    :ivar module: the module that is imported.
    """

    name: str
    package: str
    module: str

    @property
    def trouble(self) -> str:
        """The reason why the package cannot be used here; empty if it can."""
        try:
            importlib.import_module(self.module)
        except Exception as error:  # whatever a foreign module does while it is imported
            return f"{type(error).__name__}: {error}"
        return ""

    @property
    def title(self) -> str:
        return self.name.replace(self.package, f"{self.package} {version(self.package)}", 1)
