"""Runs headless Chromium, driven by Selenium."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

_NAMES = ("chromium", "chromium-browser", "google-chrome")


class NoBrowser(Exception):
    """The browser, its driver or Selenium is missing."""


@contextmanager
def browser(folder: Path) -> Iterator[Chrome]:
    """A browser with an empty profile, whose downloads go to ``folder / "downloads"``.

    :raises NoBrowser: if it cannot be started.
    """
    try:
        from selenium import webdriver
    except ImportError as error:
        raise NoBrowser("needs the package selenium") from error
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        raise NoBrowser(
            "needs Chromium and its driver (Debian: apt-get install chromium chromium-driver)"
        )
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in (
        "headless=new",
        "no-sandbox",
        "disable-gpu",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "disable-dev-shm-usage",
        "lang=en-US",
        "window-size=1280,1000",
        f"user-data-dir={folder / 'profile'}",
    ):
        options.add_argument(f"--{argument}")
    downloads = folder / "downloads"
    downloads.mkdir()
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield chrome
    finally:
        chrome.quit()
