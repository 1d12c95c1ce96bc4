"""Runs MaybeDont's own middleware on current versions of Scrapy and Python.

What is changed: hooks without a spider; a seed; samples of a set, which Python refuses from 3.11
on; and words are ours, so that Chinese is not one long word to it. Needs the group ``benchmarks``.
"""

from __future__ import annotations

from collections.abc import Collection
from random import Random
from typing import TYPE_CHECKING, Any

from maybedont import predict, scrapy_middleware

from scrapy_neardup.text.tokenization import shipped_tokenizer

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response

    # typing.Self requires Python 3.11
    from typing_extensions import Self

#: What its documentation has in a project's settings; the seed is ours.
SEED_SETTING = "AVOID_DUP_CONTENT_SEED"
ORDER = 200


class _Seeded(Random):
    """Samples a set as well."""

    def sample(self, population: Collection[Any], k: int, **more: Any) -> list[Any]:
        return super().sample(sorted(population), k, **more)


class MaybeDontMiddleware(scrapy_middleware.AvoidDupContentMiddleware):  # type: ignore[misc]
    """Refuses requests that are likely to lead to a duplicate, but for one in twenty."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        random = _Seeded(crawler.settings.getint(SEED_SETTING))
        predict.random = scrapy_middleware.random = random
        scrapy_middleware.extract_text = _extract_words(scrapy_middleware.extract_text)
        made: Self = super().from_crawler(crawler)
        return made

    def process_request(self, request: Request) -> None:
        super().process_request(request, None)

    def process_response(self, request: Request, response: Response) -> Response:
        answered: Response = super().process_response(request, response, None)
        return answered


def _extract_words(extract_text: Any) -> Any:
    tokenize, _ = shipped_tokenizer("auto")

    def words(response: Response) -> str:
        lines = extract_text(response).split("\n")
        return "\n".join(" ".join(tokenize(line)) for line in lines)

    return words
