"""Keeps skipped requests from one run of a job to the next.

Scrapy's ``requests.seen`` contains them, and its queue does not: without this file they would be
lost when the page for which they were skipped fails in the next run, or a rule is withdrawn. The
file is written atomically when a run ends cleanly; after another end the job is recovered as a
whole, see :mod:`~scrapy_neardup.crawl.durability.job_state`.
"""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scrapy import Spider
from scrapy.http import Request
from scrapy.utils.request import request_from_dict

_VERSION = 1


@dataclass
class DeferredRequests:
    """The requests that a run leaves to the next one.

    :ivar learned: see :meth:`~scrapy_neardup.url_rules.learner.Learner.state`, with packed
        requests.
    :ivar refetches: packed requests that must be made.
    """

    learned: dict[str, Any] = field(default_factory=dict)
    refetches: list[bytes] = field(default_factory=list)


def pack(request: Request, spider: Spider) -> bytes:
    """Return a request as bytes, packed as by Scrapy's own disk queues.

    :raises ValueError: when it cannot be pickled, with a lambda as its callback for example.
    """
    try:
        return pickle.dumps(request.to_dict(spider=spider), protocol=4)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(str(error)) from error


def unpack(packed: bytes, spider: Spider) -> Request:
    """Return the request that was packed.

    :raises ValueError: when the spider has no method of the callback's name any more.
    """
    return request_from_dict(pickle.loads(packed), spider=spider)


def read(path: Path) -> DeferredRequests:
    """Return what the last run left; nothing where there is no such file.

    :raises OSError: when the file cannot be read.
    :raises ValueError: when it is damaged, or of another format.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return DeferredRequests()
    try:
        version, learned, refetches = pickle.loads(content)
    except Exception as error:  # whatever broken bytes make of the unpickler
        raise ValueError(f"it is damaged ({error!r})") from error
    if version != _VERSION:
        raise ValueError(
            f"it has format {version!r}, from another scrapy-neardup than this one, which reads "
            f"format {_VERSION}"
        )
    return DeferredRequests(learned, refetches)


def write(path: Path, requests: DeferredRequests) -> None:
    """Replace what the last run left, atomically.

    :raises OSError: when it cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        pickle.dump((_VERSION, requests.learned, requests.refetches), file, protocol=4)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
