"""Classic methods of near-duplicate detection, each usable in place of the rule.

None of them replaces the rule, which confirms what a fingerprint suggests; each answers questions
that the rule cannot. The page "Which method?" of the documentation compares them.
"""

from .base import Method
from .index import MethodIndex, MethodMatch
from .registry import METHODS, identity_of, open_method

__all__ = ["METHODS", "Method", "MethodIndex", "MethodMatch", "identity_of", "open_method"]
