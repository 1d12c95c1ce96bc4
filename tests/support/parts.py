"""Example tokenizers, extractors and other parts, named in tests by their import paths."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from scrapy_neardup import IdfTable

FLAT = IdfTable("flat", 16, {})


def letters(text: str) -> list[str]:
    return [character for character in text if character.isalpha()]


def first_paragraph(html: str, tree: Any) -> str | None:
    paragraph = tree.find(".//p")
    return None if paragraph is None else paragraph.text_content()


def never(text: str) -> list[str]:
    raise ZeroDivisionError


def touchy(text: str) -> list[str]:
    """A tokenizer that does to its process what some pages do."""
    words = text.split()
    match words:
        case ["once", marker, *_] if not Path(marker).exists():
            Path(marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        case ["kill", *_]:
            os.kill(os.getpid(), signal.SIGKILL)
        case ["drag", seconds]:
            time.sleep(float(seconds))
            os.kill(os.getpid(), signal.SIGKILL)
        case ["hang", marker]:
            Path(marker).touch()
            time.sleep(3600)
        case ["sleep", seconds, *_]:
            time.sleep(float(seconds))
        case ["nap", seconds, marker]:
            Path(marker).touch()
            time.sleep(float(seconds))
        case ["raise", *_]:
            raise ZeroDivisionError(words)
        case ["print", *_]:
            sys.stdout.write("this is no JSON")
        case ["hoard", *_]:
            _ = bytearray(3 * 2**30)
    return words
