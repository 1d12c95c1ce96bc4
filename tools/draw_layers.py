"""Draw the import contracts of pyproject.toml as docs/layers.svg, and check that it is current.

Each layer imports only from layers below it. The packages' words are the first lines of their
docstrings.
"""

from __future__ import annotations

import argparse
import ast
import sys
from html import escape
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "layers.svg"
#: Pixels.
_WIDTH, _HEIGHT, _GAP, _MARGIN = 900, 40, 8, 12

_STYLE = """
    .ground { fill: #fbfaf8 } .box { fill: #ffffff; stroke: #8a8f98 }
    .name { font: bold 13px system-ui, sans-serif; fill: #1d2126 }
    .says { font: 12px system-ui, sans-serif; fill: #4a5058 }
"""


def main() -> None:
    """Write the picture, or with ``--check`` exit with status 1 if it is not current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether it is current")
    drawn = drawing(layers())
    if not parser.parse_args().check:
        TARGET.write_text(drawn, "utf-8")
    elif drawn != TARGET.read_text("utf-8"):
        sys.exit(f"{TARGET.relative_to(ROOT)} is not current: run python tools/draw_layers.py")


def layers() -> list[list[str]]:
    """Return the layers of the first contract, from the top; each is a list of modules."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    found = next(contract for contract in contracts if contract["type"] == "layers")
    return [layer.split(" | ") for layer in found["layers"]]


def drawing(rows: list[list[str]]) -> str:
    """Return the picture as SVG, one row of boxes for each layer."""
    height = 2 * _MARGIN + len(rows) * (_HEIGHT + _GAP) - _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img" aria-labelledby="title">',
        '  <title id="title">The layers of scrapy_neardup; imports point downwards</title>',
        f"  <style>{_STYLE}  </style>",
        f'  <rect class="ground" width="{_WIDTH}" height="{height}"/>',
    ]
    for number, row in enumerate(rows):
        parts += _row(row, _MARGIN + number * (_HEIGHT + _GAP))
    return "\n".join([*parts, "</svg>", ""])


def _row(names: list[str], top: int) -> list[str]:
    room = _WIDTH - 2 * _MARGIN - (len(names) - 1) * _GAP
    # A box is as wide as what stands in it asks for.
    texts = [name if len(names) > 2 else f"{name}: {_summary(name)}" for name in names]
    needed = [len(text) + 4 for text in texts]
    left, parts = float(_MARGIN), []
    for name, need in zip(names, needed, strict=True):
        width = room * need / sum(needed)
        middle = left + width / 2
        parts.append(
            f'  <rect class="box" x="{left:.1f}" y="{top}" width="{width:.1f}" '
            f'height="{_HEIGHT}" rx="4"><title>{escape(_summary(name))}</title></rect>'
        )
        says = len(names) <= 2
        parts.append(_text("name", middle, top + (17 if says else 25), name))
        if says:
            parts.append(_text("says", middle, top + 32, _summary(name)))
        left += width + _GAP
    return parts


def _text(kind: str, x: float, y: int, text: str) -> str:
    return f'  <text class="{kind}" x="{x:.1f}" y="{y}" text-anchor="middle">{escape(text)}</text>'


def _summary(name: str) -> str:
    path = ROOT / "scrapy_neardup" / name
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return (ast.get_docstring(ast.parse(source.read_text("utf-8"))) or "").partition("\n")[0]


if __name__ == "__main__":
    main()
