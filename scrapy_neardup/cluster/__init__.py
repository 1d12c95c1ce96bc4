"""Finds near-duplicates among stored pages of any number, on many machines.

A run goes through stages. Each is cut into tasks, which read files of the stage before and write
one of their own to a work folder, so that a run that was ended goes on where it was. The tasks are
plain functions on Arrow and numpy; :mod:`~scrapy_neardup.cluster.engines` runs them.
"""

from __future__ import annotations

from importlib.util import find_spec

if missing := [name for name in ("fsspec", "pyarrow") if find_spec(name) is None]:
    wanted = 'pip install "scrapy-neardup[dask]"'
    raise ImportError(f"scrapy_neardup.cluster needs {' and '.join(missing)}: {wanted}")

from ..exceptions import EngineFailed, WorkFolderDamaged, WorkFolderTaken
from .api import pairs
from .engines import DaskEngine, Engine, Sequential, Task
from .folder import Report
from .run import Found, Options

__all__ = [
    "DaskEngine",
    "Engine",
    "EngineFailed",
    "Found",
    "Options",
    "Report",
    "Sequential",
    "Task",
    "WorkFolderDamaged",
    "WorkFolderTaken",
    "pairs",
]
