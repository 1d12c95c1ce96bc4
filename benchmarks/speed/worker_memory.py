"""A worker's task that also returns its peak memory; workers import it by name."""

from __future__ import annotations

from scrapy_neardup import PageSignature, UnreadablePage
from scrapy_neardup.signatures.signer import Signer
from scrapy_neardup.sources.record import Record
from scrapy_neardup.workers import sign_record

from ..common.memory import peak_bytes


def sign_and_measure(signer: Signer, record: Record) -> tuple[PageSignature | str, float]:
    """The signature, or the reason why there is none; the most memory held so far, in MiB."""
    try:
        outcome: PageSignature | str = sign_record(signer, record)
    except UnreadablePage as error:
        outcome = error.reason
    return outcome, peak_bytes() / 2**20
