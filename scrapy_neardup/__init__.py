"""Near-duplicate pages, recognised while they are crawled.

The detector works without Scrapy. Every name is imported when it is asked for, so that to import
the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .addon import Addon
    from .crawl.judge import NearDupJudge
    from .detector import NearDupDetector
    from .downloadermiddlewares import NearDupDownloaderMiddleware
    from .dupefilters import NearDupDupeFilter
    from .exceptions import (
        ExtractionError,
        InvalidOption,
        LimitExceeded,
        NearDupError,
        NeedsScripts,
        SignatureMismatch,
        UnreadablePage,
    )
    from .html.limits import PageLimits
    from .matching.rule import Rule
    from .matching.verdict import LookAlike, Match, Verdict
    from .pipelines import NearDuplicate, NearDupPipeline
    from .reasons import Reason
    from .signatures.signature import PageSignature
    from .spidermiddlewares import NearDupSpiderMiddleware
    from .text.idf import IdfTable

__version__ = "0.1.0"

__all__ = [
    "Addon",
    "ExtractionError",
    "IdfTable",
    "InvalidOption",
    "LimitExceeded",
    "LookAlike",
    "Match",
    "NearDupDetector",
    "NearDupDownloaderMiddleware",
    "NearDupDupeFilter",
    "NearDupError",
    "NearDupJudge",
    "NearDupPipeline",
    "NearDupSpiderMiddleware",
    "NearDuplicate",
    "NeedsScripts",
    "PageLimits",
    "PageSignature",
    "Reason",
    "Rule",
    "SignatureMismatch",
    "UnreadablePage",
    "Verdict",
]

_HOME = {
    "Addon": "addon",
    "ExtractionError": "exceptions",
    "IdfTable": "text.idf",
    "InvalidOption": "exceptions",
    "LimitExceeded": "exceptions",
    "LookAlike": "matching.verdict",
    "Match": "matching.verdict",
    "NearDupDetector": "detector",
    "NearDupDownloaderMiddleware": "downloadermiddlewares",
    "NearDupDupeFilter": "dupefilters",
    "NearDupError": "exceptions",
    "NeedsScripts": "exceptions",
    "NearDupJudge": "crawl.judge",
    "NearDupPipeline": "pipelines",
    "NearDupSpiderMiddleware": "spidermiddlewares",
    "NearDuplicate": "pipelines",
    "PageLimits": "html.limits",
    "PageSignature": "signatures.signature",
    "Reason": "reasons",
    "Rule": "matching.rule",
    "SignatureMismatch": "exceptions",
    "UnreadablePage": "exceptions",
    "Verdict": "matching.verdict",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
