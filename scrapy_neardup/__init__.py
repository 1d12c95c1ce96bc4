"""Detects near-duplicate pages during a crawl.

The detector works without Scrapy. Every name is imported when it is asked for, so that to import
the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .addon import Addon as Addon
    from .crawl.judge import NearDupJudge as NearDupJudge
    from .detector import NearDupDetector as NearDupDetector
    from .downloadermiddlewares import NearDupDownloaderMiddleware as NearDupDownloaderMiddleware
    from .dupefilters import NearDupDupeFilter as NearDupDupeFilter
    from .exceptions import ExtractionError as ExtractionError
    from .exceptions import InvalidOption as InvalidOption
    from .exceptions import InvalidPage as InvalidPage
    from .exceptions import LimitExceeded as LimitExceeded
    from .exceptions import NearDupError as NearDupError
    from .exceptions import NeedsScripts as NeedsScripts
    from .exceptions import SignatureMismatch as SignatureMismatch
    from .exceptions import UnreadablePage as UnreadablePage
    from .html.limits import PageLimits as PageLimits
    from .matching.rule import Rule as Rule
    from .matching.verdict import LookAlike as LookAlike
    from .matching.verdict import Match as Match
    from .matching.verdict import Verdict as Verdict
    from .pipelines import NearDupFilesPipeline as NearDupFilesPipeline
    from .pipelines import NearDuplicate as NearDuplicate
    from .pipelines import NearDupPipeline as NearDupPipeline
    from .reasons import Reason as Reason
    from .signatures.page_fields import PageFields as PageFields
    from .signatures.signature import PageSignature as PageSignature
    from .spidermiddlewares import NearDupSpiderMiddleware as NearDupSpiderMiddleware
    from .text.idf import IdfTable as IdfTable

__version__ = "0.1.0"

#: The public names by the modules that define them.
_NAMES = {
    "addon": "Addon",
    "crawl.judge": "NearDupJudge",
    "detector": "NearDupDetector",
    "downloadermiddlewares": "NearDupDownloaderMiddleware",
    "dupefilters": "NearDupDupeFilter",
    "exceptions": "ExtractionError InvalidOption InvalidPage LimitExceeded NearDupError "
    "NeedsScripts SignatureMismatch UnreadablePage",
    "html.limits": "PageLimits",
    "matching.rule": "Rule",
    "matching.verdict": "LookAlike Match Verdict",
    "pipelines": "NearDupFilesPipeline NearDupPipeline NearDuplicate",
    "reasons": "Reason",
    "signatures.page_fields": "PageFields",
    "signatures.signature": "PageSignature",
    "spidermiddlewares": "NearDupSpiderMiddleware",
    "text.idf": "IdfTable",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
