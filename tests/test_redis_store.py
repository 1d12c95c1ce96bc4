"""The Redis store: the contract, and what only a shared store is asked."""

from __future__ import annotations

from itertools import count

import pytest

from scrapy_neardup.stores.redis import RedisStore
from tests.redis_servers import RedisServer
from tests.test_stores import StoreContract


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture
def server(running):
    with running.client as client:
        client.flushall()
    return running


class TestRedisStore(StoreContract):
    @pytest.fixture
    def empty_store(self, server):
        numbers = count()
        stores = []

        def make(**options):
            stores.append(RedisStore(server.address, f"namespace {next(numbers)}", **options))
            return stores[-1]

        yield make
        for store in stores:
            if not store.is_closed:
                store.close()
