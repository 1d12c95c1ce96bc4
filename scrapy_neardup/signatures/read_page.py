"""A page between its reading and its signature."""

from __future__ import annotations

from typing import NamedTuple

from ..html.extraction import MainText


class ReadPage(NamedTuple):
    """A page that was read and has yet to be signed.

    :ivar main: its parts; of a page that was read quickly only the title.
    :ivar key: its identity, that of its ``PageSignature``; ``None`` to derive it from the URL.
    :ivar passages: sample of its passages, if it was read quickly.
    :ivar quick_sketch: that of its ``PageSignature``.
    :ivar is_read: whether its main text is known.
    :ivar body: its compressed body, if it may have to be read in full later.
    :ivar value: that of its ``PageSignature``.
    """

    url: str
    main: MainText
    key: str | None = None
    passages: bytes = b""
    is_read: bool = True
    body: bytes = b""
    value: bytes = b""
    quick_sketch: bytes = b""
