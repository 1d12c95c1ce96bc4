"""Changes the blocks of an article: leaves some out, splits, merges, numbers or reorders them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from ..articles import Article, Block, paragraph


def first_share(article: Article, share: float) -> tuple[Block, ...]:
    """Return the first blocks, until they have *share* of the text; at least one."""
    room = share * len(article.text)
    kept: list[Block] = []
    for block in article.blocks:
        size = sum(len(cell) for row in block.rows for cell in row)
        if kept and size / 2 > room:
            break
        kept.append(block)
        room -= size
    return tuple(kept)


def paragraph_places(article: Article) -> list[int]:
    """Return where among the blocks the paragraphs are."""
    return [at for at, block in enumerate(article.blocks) if block.kind == "paragraph"]


def without_paragraphs(article: Article, count: int, rng: random.Random) -> Article:
    """Leave out so many paragraphs."""
    dropped = set(rng.sample(paragraph_places(article), count))
    return article.with_blocks(b for at, b in enumerate(article.blocks) if at not in dropped)


def without_kind(article: Article, kind: str) -> Article:
    """Leave out all blocks of a kind."""
    return article.with_blocks(block for block in article.blocks if block.kind != kind)


def split_paragraphs(article: Article) -> Article:
    """Make a paragraph of every sentence."""
    return article.with_blocks(chain(*(_split(article, b) for b in article.blocks)))


def _split(article: Article, block: Block) -> list[Block]:
    if block.kind != "paragraph":
        return [block]
    return [paragraph(sentence) for sentence in article.sentences(block.text)]


def merged_paragraphs(article: Article) -> Article:
    """Make one paragraph of those between two headings."""
    return article.with_blocks(_merged(article))


def _merged(article: Article) -> Iterator[Block]:
    gathered: list[str] = []
    for block in article.blocks:
        if block.kind == "paragraph":
            gathered.append(block.text)
            continue
        if gathered:
            yield paragraph(article.joined(gathered))
            gathered = []
        yield block
    if gathered:
        yield paragraph(article.joined(gathered))


def numbered_code(article: Article) -> Article:
    """Put its number in front of every line of code."""

    def numbered(text: str) -> str:
        return "\n".join(f"{n:3} {line}" for n, line in enumerate(text.splitlines(), 1))

    return article.mapped(numbered, "code")


def numbered_paragraphs(article: Article) -> Article:
    """Put its number in front of every paragraph."""
    blocks = list(article.blocks)
    for number, at in enumerate(paragraph_places(article), 1):
        blocks[at] = paragraph(f"({number}) {blocks[at].text}")
    return article.with_blocks(blocks)


def with_footnote_marks(article: Article, count: int, rng: random.Random) -> Article:
    """Put marks of so many footnotes behind the first sentences of some paragraphs."""
    blocks = list(article.blocks)
    for number, at in enumerate(sorted(rng.sample(paragraph_places(article), count)), 1):
        first, *others = article.sentences(blocks[at].text)
        blocks[at] = paragraph(article.joined([f"{first}[{number}]", *others]))
    return article.with_blocks(blocks)


def lists_as_paragraphs(article: Article) -> Article:
    """Make a paragraph of every entry of a list."""
    return article.with_blocks(chain(*(_flattened(block) for block in article.blocks)))


def _flattened(block: Block) -> list[Block]:
    return [paragraph(row[0]) for row in block.rows] if block.kind == "list" else [block]


def tables_as_paragraphs(article: Article) -> Article:
    """Make a paragraph of every row of a table, with commas between the cells."""
    blocks = chain.from_iterable(
        [paragraph(", ".join(row)) for row in block.rows] if block.kind == "table" else [block]
        for block in article.blocks
    )
    return article.with_blocks(blocks)


def shuffled_lists(article: Article, rng: random.Random) -> Article:
    """Bring the entries of each list into another order."""
    blocks = [
        replace(block, rows=tuple(rng.sample(block.rows, len(block.rows))))
        if block.kind == "list"
        else block
        for block in article.blocks
    ]
    return article.with_blocks(blocks)


def shuffled_sentences(article: Article, rng: random.Random) -> Article:
    """Bring the sentences of each paragraph into another order."""

    def shuffled(text: str) -> str:
        sentences = article.sentences(text)
        return article.joined(rng.sample(sentences, len(sentences)))

    return article.mapped(shuffled, "paragraph")


def shuffled_paragraphs(article: Article, rng: random.Random) -> Article:
    """Bring the paragraphs into another order; other blocks stay where they are."""
    places = paragraph_places(article)
    blocks = list(article.blocks)
    for at, other in zip(places, rng.sample(places, len(places)), strict=True):
        blocks[at] = article.blocks[other]
    return article.with_blocks(blocks)
