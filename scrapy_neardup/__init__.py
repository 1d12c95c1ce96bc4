"""Near-duplicate pages, recognised while they are crawled.

The detector works without Scrapy; what belongs to Scrapy is imported when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .detector import NearDupDetector
from .exceptions import ExtractionError, InvalidOption, NearDupError, SignatureMismatch
from .idf import IdfTable
from .judgement import Match, Rule, Verdict
from .page import PageSignature

if TYPE_CHECKING:
    from .addon import Addon
    from .dupefilters import NearDupDupeFilter
    from .extensions import NearDupJudge
    from .pipelines import NearDuplicate, NearDupPipeline
    from .spidermiddlewares import NearDupSpiderMiddleware

__version__ = "0.1.0"

__all__ = [
    "Addon",
    "ExtractionError",
    "IdfTable",
    "InvalidOption",
    "Match",
    "NearDupDetector",
    "NearDupDupeFilter",
    "NearDupError",
    "NearDupJudge",
    "NearDupPipeline",
    "NearDupSpiderMiddleware",
    "NearDuplicate",
    "PageSignature",
    "Rule",
    "SignatureMismatch",
    "Verdict",
]

_OF_SCRAPY = {
    "Addon": "addon",
    "NearDupDupeFilter": "dupefilters",
    "NearDupJudge": "extensions",
    "NearDupPipeline": "pipelines",
    "NearDupSpiderMiddleware": "spidermiddlewares",
    "NearDuplicate": "pipelines",
}


def __getattr__(name: str) -> Any:
    if name in _OF_SCRAPY:
        return getattr(import_module(f".{_OF_SCRAPY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
