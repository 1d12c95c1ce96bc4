"""Pages of one title and one text that differ in the file, the film or the data behind it."""

from __future__ import annotations

from typing import Any

from tests.promises.harness import PromiseSpider, Site, full, situation, words

SUFFIXES = "geojson parquet nc py sqlite srt mid whl tar.zst dwg".split()


def _pages(site: Site, title: str, markups: list[str]) -> Any:
    """Their contents are numbers: an item is kept for a text of its own."""
    for n, markup in enumerate(markups):
        page = full(words(seed=title), title, markup)
        site.put(f"/page/{n}", page, str(n))
    site.index()
    return PromiseSpider


@situation(contents=20)
def data_sets_of_one_description_with_another_file(site: Site) -> Any:
    links = [f'<a href="/library/{n}.{end}">Load</a>' for end in SUFFIXES for n in range(2)]
    return _pages(site, "Air quality", links)


@situation(contents=6)
def records_whose_documents_and_media_have_numbers_only(site: Site) -> Any:
    paths = (f"/{folder}/471{n}" for folder in ("documents", "media", "export") for n in (1, 2))
    return _pages(site, "Record", [f'<a href="{path}">Load</a>' for path in paths])


@situation(contents=10)
def recordings_in_players_that_another_part_of_their_address_tells(site: Site) -> Any:
    addresses = (
        *("/player.php?v=300{}&amp;autoplay=on", "/embed?version=300{}&amp;page=one"),
        *("/player.html#300{}", "/viewer.html#file=/pdf/300{}.pdf", "/player;id=300{}"),
    )
    frames = [f'<iframe src="{each.format(n)}"></iframe>' for each in addresses for n in (1, 2)]
    return _pages(site, "Lecture", frames)


@situation(contents=8)
def sheds_whose_wood_only_an_object_in_a_program_names(site: Site) -> Any:
    programs = (
        "shed = {wood: '@', legs: 4};",
        "var shed = {'wood': '@', 'legs': 4};",
        '$R[0]=[$R[1]={wood:"@"}];',
        'window.__reactRouterContext.streamController.enqueue("[\\"wood\\",\\"@\\"]\\n");',
    )
    woods = ("Alder", "Birch", "Cedar", "Maple", "Larch", "Beech", "Aspen", "Rowan")
    scripts = [each.replace("@", wood) for each, wood in zip(2 * programs, woods, strict=True)]
    return _pages(site, "Shed", [f"<script>{script}</script>" for script in scripts])


@situation(contents=4, finds=8)
def pages_with_files_players_and_data_are_found_again_at_other_visits(site: Site) -> Any:
    for n in range(4):
        for visit in range(3):
            more = (
                f'<a href="/library/{n}.geojson?v=1.{visit}">Load</a>'
                f'<a href="/documents/471{n};jsessionid=0A{visit}?ref=list{visit}">Report</a>'
                f'<a href="/page/{n}?print={visit}">Print</a> <a href="/users/a.b{visit}">Me</a>'
                f'<a href="https://social.example/share?u=/page/{n}/{visit}">Share</a>'
                f'<iframe src="/player;jsessionid=0B{visit}?v=300{n}&amp;autoplay=on"></iframe>'
                f"<script>shed = {{legs: {n}, csrfToken: 'ab{visit}', views: 10{visit}, "
                f"at: 171480000{visit}, path: '/page/{n}/{visit}'}};</script>"
            )
            page = full(words(seed=n), f"Page {n}", more)
            site.put(f"/page/{n}/{visit}", page, str(n))
    site.index()
    return PromiseSpider
