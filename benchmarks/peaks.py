"""What a worker answers when it is asked for its memory as well."""

from __future__ import annotations

from resource import RUSAGE_SELF, getrusage

from scrapy_neardup import PageSignature, UnreadablePage
from scrapy_neardup.signatures.signature import Signer
from scrapy_neardup.sources.record import Record
from scrapy_neardup.workers import sign_record


def sign_and_measure(signer: Signer, record: Record) -> tuple[PageSignature | str, float]:
    """The signature, or the reason why there is none; the most memory held so far, in MiB."""
    try:
        outcome: PageSignature | str = sign_record(signer, record)
    except UnreadablePage as error:
        outcome = error.reason
    return outcome, getrusage(RUSAGE_SELF).ru_maxrss / 1024
