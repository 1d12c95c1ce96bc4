"""Loads the parts of a signer that users can replace, by shipped name, import path or object."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from ..exceptions import InvalidOption, MissingPackage
from ..html.quick_text import can_read_quickly
from ..text.idf import IdfTable, read_table, shipped_table
from .signature import EXTRACTIONS

_Component = TypeVar("_Component")


def component(
    option: str, given: str | _Component, shipped: Callable[[str], tuple[_Component, str]]
) -> tuple[_Component, str]:
    """Return the component of a shipped name, import path or callable, and its identity."""
    if isinstance(given, str) and "." not in given:
        return shipped(given)
    component: Any = _imported(option, given) if isinstance(given, str) else given
    if not callable(component):
        raise InvalidOption(option, given, "a shipped name, an import path or a callable")
    identity = (
        given
        if isinstance(given, str)
        else getattr(component, "__qualname__", type(component).__name__)
    )
    return component, f"{identity}-{getattr(component, 'version', 1)}"


def idf_table(given: str | PathLike[str] | IdfTable) -> IdfTable:
    """Return the table of a shipped name, path or import path."""
    if isinstance(given, PathLike):
        return read_table(given)
    if isinstance(given, str):
        if Path(given).is_file() or given.endswith(".gz"):
            return read_table(given)
        if "." not in given:
            return shipped_table(given)
        given = _imported("idf", given)
    if not isinstance(given, IdfTable):
        raise InvalidOption("idf", given, "a shipped name, a path, an import path or an IdfTable")
    return given


def require_extraction(extraction: str, *, has_method: bool) -> None:
    """Check that pages can be read in this way."""
    if extraction not in EXTRACTIONS:
        raise InvalidOption("extraction", extraction, "'full' or 'lazy'")
    if extraction == "lazy" and not can_read_quickly():
        wanted = "pip install \"scrapy-neardup[lazy]\", or choose 'full'"
        raise MissingPackage("extraction", extraction, wanted)
    if extraction == "lazy" and has_method:
        raise InvalidOption("extraction", extraction, "'full' where a method judges")


def _imported(option: str, path: str) -> Any:
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidOption(option, path, f"a valid import path ({error})") from error
