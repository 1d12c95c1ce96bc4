"""The hints of one namespace of a SQLite file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ..hints import newest, packed_name
from . import hint_tables
from .file import SqliteFile


class SqliteHints:
    """See :class:`~scrapy_neardup.stores.hints.HintLog`."""

    def __init__(self, file: SqliteFile, namespace: int) -> None:
        self._file = file
        self._namespace = namespace

    def rules(self) -> dict[str, bytes]:
        """Return the rules, without what waits to be written."""
        with self._file.reading() as connection:
            return hint_tables.rules(connection, self._namespace)

    def put_rules(self, rules: Mapping[str, bytes]) -> None:
        with self._file.writer.later() as waiting:
            waiting.rules |= {
                (self._namespace, packed_name(name)): body for name, body in rules.items()
            }

    def note(self, known: npt.NDArray[np.void]) -> None:
        with self._file.writer.later() as waiting:
            waiting.noted.append((self._namespace, known))

    def since(self, time: int) -> npt.NDArray[np.void]:
        with self._file.reading() as connection:
            known = [hint_tables.known(connection, self._namespace, time)]
            for batch in self._file.writer.pending():
                known += [noted for where, noted in batch.noted if where == self._namespace]
        return newest(np.concatenate(known), time)

    def forget_before(self, time: int) -> None:
        self._file.writer.flush()
        with self._file.writer.changing() as connection:
            hint_tables.forget_before(connection, self._namespace, time)
