"""Times making, opening and filtering a report of many decisions, in Chromium.

Decisions are made up: half of them duplicates, with titles, times and sizes. Times of the browser
are taken in the page, from its first byte to the first list that is laid out, and around what each
control does until the browser has laid it out.
"""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from scrapy_neardup.report.decisions import Decision
from scrapy_neardup.report.document import Columns, Origin, render_report

from ..common.browser import browser
from ..common.options import command_parser

ACTIONS = {
    "type a search": "search.value = 'example/4999'; input(search)",
    "clear the search": "search.value = ''; input(search)",
    "choose a verdict": "verdict.value = ''; change(verdict)",
    "choose a site": "site.selectedIndex = 2; change(site)",
    "choose all sites": "site.selectedIndex = 0; change(site)",
    "sort by similarity": "document.querySelector('[data-sort=similarity]').click()",
    "sort by page": "document.querySelector('[data-sort=page]').click()",
    "move a slider": "slider.value = 0.9; input(slider)",
    "switch language": "language.value = 'zh'; change(language)",
}
PRELUDE = """
const by = (id) => document.getElementById(id);
const [search, verdict, site, slider, language] =
  ['search', 'by-verdict', 'by-site', 'similarity', 'language'].map(by);
const say = (what) => (node) => node.dispatchEvent(new Event(what, { bubbles: true }));
const [input, change] = [say('input'), say('change')];
"""


def main() -> None:
    parser = command_parser("benchmarks.speed.report_page", __doc__)
    parser.add_argument("--decisions", type=int, default=100_000, metavar="N")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        started = perf_counter()
        page.write_text(made_up(options.decisions), encoding="utf-8")
        seconds = perf_counter() - started
        print(f"{options.decisions:,} decisions: made in {seconds:.1f} s, {size_of(page)}")
        for what, milliseconds in measured(page, Path(folder)).items():
            print(f"{what:<20} {milliseconds:7.0f} ms")


def made_up(decisions: int) -> str:
    rng = random.Random(7)
    columns = Columns()
    for number in range(decisions // 2):
        host = f"site{number % 50}.example"
        original = f"https://{host}/articles/2026/{number}"
        at = 1_700_000_000 + number
        title = f"Article {number} of a newspaper whose titles are as long as this one"
        columns.add(Decision(original, "new", "no_match", title=title, bytes=40_000, time=at))
        columns.add(
            Decision(
                f"https://mirror-{host}/example/{number}",
                "duplicate",
                "similar_text",
                duplicate_of=original,
                distance=rng.randrange(12),
                similarity=round(rng.uniform(0.73, 1), 4),
                title=title,
                bytes=41_000,
                time=at,
            )
        )
    origin = Origin("crawl", "made up", 0, max_distance=11, min_similarity=0.73)
    return render_report(columns.packed(origin, None))


def size_of(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB"


def measured(page: Path, folder: Path) -> dict[str, float]:
    """Milliseconds of each action."""
    with browser(folder) as chrome:
        chrome.set_script_timeout(60)
        chrome.get(page.as_uri())
        times = {
            "open": chrome.execute_script(
                "return performance.timing.loadEventEnd - performance.timing.navigationStart"
            )
        }
        for what, action in ACTIONS.items():
            # A search waits for more letters first; what is measured ends with the next frame.
            times[what] = chrome.execute_async_script(
                f"{PRELUDE} const done = arguments[0]; const began = performance.now();"
                "const shown = by('shown').textContent;"
                f"{action};"
                "const look = () => setTimeout(() => done(performance.now() - began));"
                "if (search.value !== window.last) { window.last = search.value;"
                "  new MutationObserver(look).observe(by('shown'), {childList: true}); }"
                "else requestAnimationFrame(look);"
            )
        return times


if __name__ == "__main__":
    main()
