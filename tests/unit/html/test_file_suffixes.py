"""Files and pages, told by the ends of their paths."""

from __future__ import annotations

import pytest

from scrapy_neardup.html.links.file_suffixes import is_file, is_linked_file

SUFFIXES = (
    "pdf docm xlsm odg fb2 azw3 json geojson xml parquet nc sqlite py ipynb srt vtt mid pgn dwg "
    "step psd eps ai mpg flv heic whl tar.zst shp.zip ttf woff2 js yaml md log asc crt swf PDF Json"
)


@pytest.mark.parametrize("suffix", SUFFIXES.split())
def test_a_link_with_the_suffix_of_a_file_leads_to_one(suffix):
    assert is_linked_file(f"/library/3001.{suffix}")
    assert is_linked_file(f"3001.{suffix}")


@pytest.mark.parametrize(
    "path",
    [
        *("", "/", "/story", "/story/", "/story/1", "/.pdf/", "/a.pdf/b"),
        *(f"/story/1.{end}" for end in "html htm xhtml shtml php php5 phtml asp aspx".split()),
        *(f"/data/1.{end}" for end in "html PHP jsp cfm cgi pl do action print com rc1 2".split()),
        *("/story/2.0", "/story/v1.2", "/data/1.0", "/story/1.4490490", "/story/1.0rc1"),
        *("/example.com", "/example.de", "www.example.ai", "/web/2014/http://example.rs"),
        *("/tag/node.js", "/tags/vue.js", "/wiki/Foo.bar", "/wiki/Asm.js", "/users/john.smith"),
        *("/@john.max", "/author/j.go", "/a/blob/main/a.py", "/a/edit/main/docs/a.rst"),
        *("/feed.xml", "/a/rss.xml", "/tag/a/index.xml", "/sitemap.xml", "/site-manifest.json"),
        *("/manifest.json", "/robots.txt", "/story.rss", "/story.atom"),
    ],
)
def test_a_link_to_a_page_or_to_what_a_site_says_of_itself_leads_to_none(path):
    assert not is_linked_file(path)


def test_among_files_any_suffix_is_that_of_a_file():
    assert is_linked_file("/uploads/2024/1.sdlxliff")
    assert not is_linked_file("/story/2024/1.sdlxliff")


def test_what_a_script_names_is_a_file_only_if_nothing_else_ends_like_it():
    assert is_file("/a/1.geojson")
    assert not any(map(is_file, ("console.log", "event.key", "this.data", "app.js", "a.py")))
