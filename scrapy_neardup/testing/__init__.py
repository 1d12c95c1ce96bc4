"""The contract of stores as tests, for authors of stores. Needs pytest.

class TestOwnStore(StoreContract):
    @pytest.fixture
    def make_store(self):
        return OwnStore
"""

from __future__ import annotations

from .store import PersistentStoreContract, StoreContract

__all__ = ["PersistentStoreContract", "StoreContract"]
