from __future__ import annotations

from pathlib import Path

from benchmarks.common.memory import resident_bytes
from scrapy_neardup.cluster import engines
from scrapy_neardup.cluster.engines import Task
from scrapy_neardup.cluster.folder import Report, WorkFolder
from tests.support.processes import linux

#: What a task leaves behind, at the end of the memory that it has used.
_left: list[bytes] = []


def _use_200_megabytes() -> Report:
    used = [bytes(1000) for _ in range(200_000)]
    _left.append(used.pop())
    return {}


@linux
def test_a_worker_keeps_no_memory_that_a_task_has_freed(tmp_path: Path) -> None:
    folder = WorkFolder(str(tmp_path))
    before = resident_bytes()
    for number in range(2):
        engines._run(Task(folder, "stage", number, _use_200_megabytes, ()))
    assert resident_bytes() < before + 100 * 10**6
