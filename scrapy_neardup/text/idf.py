"""Frozen IDF tables, the weights of tokens.

A weight that changed during a crawl would change the fingerprints of pages already stored,
so a table never changes: it has a format version and a digest, and the digest is part of
the recipe of every signature.

File format (gzip, UTF-8): one line of JSON with ``format``, ``version``, ``name`` and
``default``, then one line for each weight: the weight, a tab, and its tokens separated by
spaces. Weights are whole sixteenths of a nat, at least 1. A token that is not in the table
is rare and gets the ``default``, which bounds the weight of made-up words.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from importlib import resources
from itertools import repeat
from pathlib import Path

import numpy as np
import numpy.typing as npt
import xxhash

from ..exceptions import InvalidOption

#: Weights are multiples of one nat divided by this.
UNITS_PER_NAT = 16

_FORMAT = "scrapy-neardup-idf"
_VERSION = 1


def token_hashes(tokens: Collection[str], seed: int = 0) -> npt.NDArray[np.uint64]:
    """Return the 64-bit xxh3 hash of each token's UTF-8, in the order of the tokens.

    A lone surrogate, which is invalid in UTF-8, is hashed as the three bytes it would take.
    """
    # Encoded together, which takes a third of the time.
    encoded = " ".join(tokens).encode("utf-8", "surrogatepass").split(b" ")
    if len(encoded) != len(tokens):
        # There are no tokens, or some contain blanks.
        encoded = [token.encode("utf-8", "surrogatepass") for token in tokens]
    digests = b"".join(map(xxhash.xxh3_64_digest, encoded, repeat(seed)))
    return np.frombuffer(digests, ">u8").astype(np.uint64)


class IdfTable:
    """Weights of tokens, looked up by the tokens' hashes.

    :param name: name shown to users.
    :param default: weight of tokens that are not in the table, at least 1.
    :param weights: mapping of tokens to weights, each at least 1.
    """

    def __init__(self, name: str, default: int, weights: Mapping[str, int]) -> None:
        hashes = token_hashes(weights)
        order = np.argsort(hashes)
        self.name = name
        self.default = default
        self._hashes = hashes[order]
        self._weights = np.fromiter(weights.values(), np.int64, len(weights))[order]
        content = np.int64(default).tobytes() + self._hashes.tobytes() + self._weights.tobytes()
        #: Digest of the content, 16 hexadecimal digits; equal tables have equal digests.
        self.digest = blake2b(content, digest_size=8).hexdigest()

    def __len__(self) -> int:
        return self._hashes.size

    def __repr__(self) -> str:
        return f"<IdfTable {self.name}: {len(self)} tokens, digest {self.digest}>"

    def weights(self, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Return the weight of each token, same shape.

        :param hashes: shape ``(n,)``, as :func:`~scrapy_neardup.text.idf.token_hashes` gives them.
        """
        weights = np.full(hashes.shape, self.default)
        if len(self):
            places = self._hashes.searchsorted(hashes)
            is_known = self._hashes.take(places, mode="clip") == hashes
            weights[is_known] = self._weights[places[is_known]]
        return weights


def weights_of(
    tokens: Sequence[str], hashes: npt.NDArray[np.uint64], table: IdfTable
) -> npt.NDArray[np.int64]:
    """Return the weights of tokens, those with a sharp s also by their spelling with "ss".

    A table may count both spellings as one word, as the shipped one does.

    :param hashes: of the tokens, see :func:`token_hashes`.
    """
    return np.minimum(table.weights(hashes), table.weights(spelled_hashes(tokens, hashes)))


def spelled_hashes(tokens: Sequence[str], hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return the hashes of tokens, with "ss" in place of a sharp s."""
    sharp = [place for place, token in enumerate(tokens) if "ß" in token]
    if sharp:
        hashes = hashes.copy()
        hashes[sharp] = token_hashes([tokens[place].replace("ß", "ss") for place in sharp])
    return hashes


@cache
def shipped_table(name: str) -> IdfTable:
    """Return a shipped table: ``"multilingual"``, or ``"none"``, which weighs all tokens equally.

    :raises InvalidOption: if the name is unknown.
    """
    if name == "none":
        return IdfTable("none", UNITS_PER_NAT, {})
    if name != "multilingual":
        wanted = "one of 'multilingual', 'none', a table's path or an import path"
        raise InvalidOption("idf", name, wanted)
    table = resources.files(__package__) / "data" / "idf-multilingual.txt.gz"
    return _parse(table.read_bytes(), name)


def read_table(path: str | os.PathLike[str]) -> IdfTable:
    """Read a table from a file.

    :raises InvalidOption: if the file cannot be read or is not a table of this version.
    """
    try:
        return _parse(Path(path).read_bytes(), str(path))
    except OSError as error:
        raise InvalidOption("idf", str(path), f"a readable file ({error.strerror})") from error


def write_table(
    path: str | os.PathLike[str], name: str, default: int, weights: Mapping[str, int]
) -> None:
    """Write a table; equal content gives equal bytes. Tokens must not contain white space."""
    by_weight: dict[int, list[str]] = {}
    for token, weight in weights.items():
        by_weight.setdefault(weight, []).append(token)
    header = {"format": _FORMAT, "version": _VERSION, "name": name, "default": default}
    lines = [json.dumps(header)]
    lines += (f"{weight}\t{' '.join(sorted(by_weight[weight]))}" for weight in sorted(by_weight))
    Path(path).write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))


def _parse(data: bytes, source: str) -> IdfTable:
    try:
        header_line, *lines = gzip.decompress(data).decode().split("\n")
        header = json.loads(header_line)
        if header["format"] != _FORMAT or header["version"] != _VERSION:
            raise ValueError(f"format {header['format']!r}, version {header['version']!r}")
        weights: dict[str, int] = {}
        for line in filter(None, lines):
            weight, tokens = line.split("\t")
            weights.update(dict.fromkeys(tokens.split(" "), int(weight)))
        default = int(header["default"])
        if min((default, *weights.values())) < 1:
            raise ValueError("a weight below 1")
    except (ValueError, KeyError, TypeError, EOFError, OSError, zlib.error) as error:
        raise InvalidOption(
            "idf", source, f"an IDF table of format {_FORMAT} version {_VERSION} ({error})"
        ) from error
    return IdfTable(str(header.get("name", source)), default, weights)
