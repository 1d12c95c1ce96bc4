"""Scrapy's pipelines for files and images, behind the pipeline of the add-on."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from scrapy.http import Response

from tests.compatibility.shown import settings_of
from tests.support.crawl import CrawlSpider, run_crawl
from tests.support.server import Answer, serving
from tests.support.texts import FERRY, MUSEUM, page


class MediaSpider(CrawlSpider):
    """Yields an item with an image and a file for each page."""

    def parse(self, response: Response) -> Iterator[dict[str, Any]]:
        yield {
            "path": response.url.rpartition("/")[2],
            "image_urls": [f"{response.url}.png"],
            "file_urls": [f"{response.url}.pdf"],
        }


def picture(colour: str) -> Answer:
    file = BytesIO()
    Image.new("RGB", (8, 8), colour).save(file, "PNG")
    return Answer(file.getvalue(), "image/png")


def test_media_of_dropped_items_are_not_downloaded(tmp_path):
    pages = {"/ferry": page(FERRY), "/copy": page(FERRY, frame="2"), "/museum": page(MUSEUM)}
    media: dict[str, Answer | str] = {}
    for path in pages:
        media[f"{path}.png"] = picture("red")
        media[f"{path}.pdf"] = Answer(b"%PDF-1.4 one content", "application/pdf")
    with serving({**pages, **media}) as site:
        crawl = run_crawl(
            list(map(site.url, pages)),
            {
                **settings_of("FilesPipeline and ImagesPipeline"),
                "FILES_STORE": str(tmp_path / "files"),
                "IMAGES_STORE": str(tmp_path / "images"),
                "CONCURRENT_REQUESTS": 1,
            },
            spider="tests.compatibility.test_media_pipelines.MediaSpider",
        )
    assert crawl.stored == ["ferry", "museum"]
    assert {path for path in media if site.hits[path]} == {
        path for path in media if not path.startswith("/copy")
    }
    # Equal files are stored once by the pipeline of this package; images are not.
    counts = crawl.counts("files/")
    assert [counts[name] for name in ("stored", "duplicates", "duplicate_bytes")] == [1, 1, 20]
    assert len(stored_in(tmp_path / "files")) == 1
    assert len(stored_in(tmp_path / "images")) == 2


def stored_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
