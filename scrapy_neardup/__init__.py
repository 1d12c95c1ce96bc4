"""Near-duplicate pages, recognised while they are crawled.

The detector works without Scrapy. Every name is imported when it is asked for, so that to import
the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .addon import Addon
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
    from .extensions import NearDupJudge
    from .idf import IdfTable
    from .judgement import Rule
    from .limits import PageLimits
    from .page import PageSignature
    from .pipelines import NearDuplicate, NearDupPipeline
    from .spidermiddlewares import NearDupSpiderMiddleware
    from .verdict import LookAlike, Match, Verdict

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
    "Rule",
    "SignatureMismatch",
    "UnreadablePage",
    "Verdict",
]

_HOME = {
    "Addon": "addon",
    "ExtractionError": "exceptions",
    "IdfTable": "idf",
    "InvalidOption": "exceptions",
    "LimitExceeded": "exceptions",
    "LookAlike": "verdict",
    "Match": "verdict",
    "NearDupDetector": "detector",
    "NearDupDownloaderMiddleware": "downloadermiddlewares",
    "NearDupDupeFilter": "dupefilters",
    "NearDupError": "exceptions",
    "NeedsScripts": "exceptions",
    "NearDupJudge": "extensions",
    "NearDupPipeline": "pipelines",
    "NearDupSpiderMiddleware": "spidermiddlewares",
    "NearDuplicate": "pipelines",
    "PageLimits": "limits",
    "PageSignature": "page",
    "Rule": "judgement",
    "SignatureMismatch": "exceptions",
    "UnreadablePage": "exceptions",
    "Verdict": "verdict",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f".{_HOME[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
