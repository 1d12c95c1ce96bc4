"""Draw docs/report.png: the report of the example's crawl, as Chromium shows it.

python tools/report_picture.py [--chromium PROGRAM]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "report.png"
SIZE = "1200,1400"


def main() -> None:
    """Crawl the example's site and take the picture."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--chromium", default="chromium", help="the browser (default: %(default)s)")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        crawl(Path(folder))
        photograph(options.chromium, Path(folder) / "site.html", Path(folder) / "profile")
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size:,} bytes")


def crawl(folder: Path) -> None:
    """Run the example, which writes its reports."""
    demo = [sys.executable, str(ROOT / "example_project" / "demo.py"), "--report", str(folder)]
    subprocess.run(demo, check=True, capture_output=True)


def photograph(chromium: str, page: Path, profile: Path) -> None:
    """Save a picture of the beginning of a page, as the browser shows it."""
    subprocess.run(
        [
            chromium,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--lang=en-US",
            f"--user-data-dir={profile}",
            f"--window-size={SIZE}",
            f"--screenshot={PICTURE}",
            page.as_uri(),
        ],
        check=True,
        capture_output=True,
    )


if __name__ == "__main__":
    main()
