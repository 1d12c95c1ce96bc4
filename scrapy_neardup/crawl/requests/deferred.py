"""Requests that rules held back, from one run of a job to the next.

Scrapy's ``requests.seen`` has them, and its queue has not: without this file nobody would ask for
them again when the page for whose sake they were held back fails in the next run, or a rule falls.
It is written when a run ends cleanly, in one piece; after an unclean end the job is recovered as a
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

#: Says how the rest is to be read.
_VERSION = 1


@dataclass
class DeferredRequests:
    """What a run leaves to the next one.

    :ivar learned: see :meth:`~scrapy_neardup.url_rules.learner.Learner.state`, with packed
        requests.
    :ivar wanted: packed requests that are to be made in any case.
    """

    learned: dict[str, Any] = field(default_factory=dict)
    wanted: list[bytes] = field(default_factory=list)


def pack(request: Request, spider: Spider) -> bytes:
    """A request as bytes, as Scrapy's own disk queues have it.

    :raises ValueError: when it holds what cannot be written, such as a lambda as its callback.
    """
    try:
        return pickle.dumps(request.to_dict(spider=spider), protocol=4)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(str(error)) from error


def unpack(packed: bytes, spider: Spider) -> Request:
    """The request that was packed.

    :raises ValueError: when its callback is no method of the spider any more.
    """
    return request_from_dict(pickle.loads(packed), spider=spider)


def read(path: Path) -> DeferredRequests:
    """What the last run left; nothing where there is no such file.

    :raises OSError: when the file cannot be read.
    :raises ValueError: when it is not one that this version writes; it says why not.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return DeferredRequests()
    try:
        version, learned, wanted = pickle.loads(content)
    except Exception as error:  # whatever broken bytes make of the unpickler
        raise ValueError(f"it is damaged ({error!r})") from error
    if version != _VERSION:
        raise ValueError(
            f"it has format {version!r}, from another scrapy-neardup than this one, which reads "
            f"format {_VERSION}"
        )
    return DeferredRequests(learned, wanted)


def write(path: Path, held: DeferredRequests) -> None:
    """Put it in the place of what the run before left, all of it or nothing.

    :raises OSError: when it cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        pickle.dump((_VERSION, held.learned, held.wanted), file, protocol=4)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
