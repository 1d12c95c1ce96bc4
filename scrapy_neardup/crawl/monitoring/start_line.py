"""The first log line of a crawl: what is done with duplicates, and the settings that matter."""

from __future__ import annotations

from ...detector import NearDupDetector
from ...matching.rule import Rule
from ...methods import Method, identity_of
from ...text.tokenization import ScriptTokenizer
from ..settings import Config

_DOING = {"drop": "Dropping", "tag": "Tagging", "report": "Reporting"}
#: The meaning of the values of settings, with the value itself.
_SCOPES = {
    "all": "pages of all sites are compared (scope all)",
    "site": "only pages of the same site are compared (scope site)",
}
_LINKS = {
    "follow": "links of duplicates are followed (links follow)",
    "skip": "links of duplicates are skipped (links skip)",
}
_REVISITS = {
    "store": "items of unchanged pages are stored again (revisit store)",
    "drop": "items of unchanged pages count as duplicates (revisit drop)",
}


def start_line(config: Config, detector: NearDupDetector) -> str:
    """Return a line that names the settings in effect, and says what they mean."""
    policy, store = config.policy, detector.store
    field = config.item_field
    parts = {**detector.signer.parts, "tokenizer": _tokenizer(detector)}
    method = detector.signer.method
    return "; ".join(
        (
            f"{_DOING[policy.action]} near-duplicate "
            f"{'pages' if field is None else f'items by field {field}'}: "
            f"{_by_rule(policy.rule) if method is None else _by_method(method, policy.rule)}",
            _SCOPES[policy.rule.scope],
            _LINKS[policy.links],
            _REVISITS[policy.revisit],
            ", ".join(f"{part} {name}" for part, name in parts.items()),
            f"store {store.name}, {len(store)} pages known",
        )
    )


def _by_rule(rule: Rule) -> str:
    return (
        f"resemblance at least {rule.min_similarity:g} (min_similarity), Hamming distance at most "
        f"{rule.max_distance} of 64 bits (max_distance); "
        f"{_short_texts(rule)} are kept unless whole pages are equal"
    )


def _by_method(method: Method, rule: Rule) -> str:
    decides = f"the method {identity_of(method)} decides"
    return decides if method.short_texts else f"{decides}; {_short_texts(rule)} are kept"


def _short_texts(rule: Rule) -> str:
    return f"texts of fewer than {rule.min_features} distinct words (min_features)"


def _tokenizer(detector: NearDupDetector) -> str:
    """Return the tokenizer that is used, and the identity of its tokens, which others may share."""
    identity, tokenizer = detector.signer.parts["tokenizer"], detector.signer.tokenizer
    if isinstance(tokenizer, ScriptTokenizer):
        return f"{tokenizer.name} ({identity})"
    return identity
