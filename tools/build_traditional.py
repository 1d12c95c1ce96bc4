"""Build the table of traditional Chinese characters: python tools/build_traditional.py

Needs ``opencc`` (Apache License 2.0), whose mapping of single characters it writes down: one line
of traditional characters, and below each its simplified one.
"""

from __future__ import annotations

from pathlib import Path

TABLE = Path(__file__).parents[1] / "scrapy_neardup/text/data/traditional.txt"
#: Han characters of the basic plane: the block of the unified ones, and its extension A.
_BLOCKS = (range(0x3400, 0x4DC0), range(0x4E00, 0xA000))


def main() -> None:
    """Write the table and say how long it is."""
    import opencc

    convert = opencc.OpenCC("t2s").convert
    # Some become one that has a simplified form of its own.
    pairs = [(c, convert(convert(c))) for block in _BLOCKS for c in map(chr, block)]
    pairs = [(c, s) for c, s in pairs if c != s and len(s) == 1 and s < "\U00010000"]
    lines = ("".join(column) + "\n" for column in zip(*pairs, strict=True))
    TABLE.write_text("".join(lines), encoding="utf-8")
    print(f"{len(pairs)} characters in {TABLE}")


if __name__ == "__main__":
    main()
