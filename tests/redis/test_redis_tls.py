"""Redis over TLS, with a real server."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_neardup import InvalidOption, NearDupDetector
from scrapy_neardup.exceptions import StoreError, StoreUnreachable
from scrapy_neardup.stores import open_reader, open_store
from scrapy_neardup.stores.redis.store import RedisStore
from tests.support.certificates import Authority
from tests.support.redis_servers import RedisServer, TlsEndpoint
from tests.support.texts import FERRY


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"), "ca")


@pytest.fixture
def endpoint(authority, afterwards):
    """Puts TLS before a server: the endpoint's port."""

    def before(server: RedisServer, address: str = "127.0.0.1", clients: Path | None = None) -> int:
        certificate, key = authority.certificate(address)
        endpoint = TlsEndpoint(server.port, certificate, key, clients)
        afterwards.callback(endpoint.close)
        return endpoint.port

    return before


def test_a_store_is_shared_over_tls(redis_server, endpoint, authority):
    address = f"rediss://127.0.0.1:{endpoint(redis_server)}/0?ssl_ca_certs={authority.file}"
    with_tls, plain = RedisStore(address), RedisStore(redis_server.address)
    check = NearDupDetector(store=with_tls).check
    assert check(url="https://a.example/", text=FERRY).kind == "new"
    verdict = NearDupDetector(store=plain).check(url="https://b.example/", text=FERRY)
    assert verdict.duplicate_of == "https://a.example/"
    assert with_tls.name == address.partition("?")[0]
    for store in (with_tls, plain):
        store.close()
    reader = open_reader(address)
    assert reader.figures("default").pages == 1
    reader.close()


@pytest.mark.parametrize("ca", ["none", "another"])
def test_a_server_whose_certificate_nobody_trusts_is_refused(redis_server, endpoint, tmp_path, ca):
    option = f"?ssl_ca_certs={Authority(tmp_path, ca).file}" if ca == "another" else ""
    with pytest.raises(StoreError, match=r"certificate is not trusted .*\?ssl_ca_certs") as caught:
        RedisStore(f"rediss://127.0.0.1:{endpoint(redis_server)}/0{option}")
    assert not isinstance(caught.value, StoreUnreachable)


def test_the_certificate_of_another_machine_is_refused_unless_that_is_meant(
    redis_server, endpoint, authority
):
    port = endpoint(redis_server, "127.0.0.99")
    address = f"rediss://127.0.0.1:{port}/0?ssl_ca_certs={authority.file}"
    with pytest.raises(StoreError, match=r"mismatch.*call it what its certificate calls it"):
        RedisStore(address)
    RedisStore(f"{address}&ssl_check_hostname=false").close()


def test_a_server_may_ask_for_a_certificate(redis_server, endpoint, authority):
    port = endpoint(redis_server, clients=authority.file)
    address = f"rediss://127.0.0.1:{port}/0?ssl_ca_certs={authority.file}"
    # It says so, or is gone before that is read.
    with pytest.raises(StoreError, match=r"asks for a certificate.*\?ssl_certfile"):
        RedisStore(address)
    own, key = authority.certificate("127.0.0.2")
    RedisStore(f"{address}&ssl_certfile={own}&ssl_keyfile={key}").close()


def test_who_does_not_speak_as_the_server_does_is_told(redis_server, endpoint, authority):
    # By then the server may have hung up, or told what it thinks of that in TLS.
    with pytest.raises(StoreError, match="one with TLS begins with rediss:"):
        RedisStore(f"redis://127.0.0.1:{endpoint(redis_server)}/0")
    ca = f"?ssl_ca_certs={authority.file}"
    with pytest.raises(StoreUnreachable, match="one without TLS begins with redis:"):
        RedisStore(f"rediss://127.0.0.1:{redis_server.port}/0{ca}", call_timeout=0.5)


def test_an_endpoint_that_goes_away_may_come_back(redis_server, authority):
    endpoint = TlsEndpoint(redis_server.port, *authority.certificate("127.0.0.1"))
    address = f"rediss://127.0.0.1:{endpoint.port}/0?ssl_ca_certs={authority.file}"
    store = RedisStore(address)
    endpoint.close()
    with pytest.raises(StoreUnreachable):
        len(store)
    store.close()


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("rediss://h?ssl_ca_cert=x", "no option but ssl_ca_certs, ssl_certfile"),
        ("redis://h?ssl_ca_certs=x", r"redis://h:6379/0\?ssl_ca_certs=…'.* must be without it"),
        ("rediss://h?sentinel_password=Kj7xq", "no option but ssl_ca_certs"),
        ("rediss+sentinel://h/pages?ssl_cipher=x&sentinel_password=Kj7xq", "sentinel_username"),
        ("rediss://h?ssl_check_hostname=maybe", "with true or false"),
        ("rediss://h?ssl_keyfile=/own.key", "with ssl_certfile as well"),
        ("rediss://h?ssl_ca_certs=/nowhere.pem", r"ssl_ca_certs=/nowhere.pem.*No such file"),
        (f"rediss://h?ssl_ca_certs={__file__}", "with a PEM file that can be used"),
        (f"rediss://h?ssl_certfile={__file__}", r"ssl_certfile=.*with a PEM file"),
    ],
)
def test_options_that_cannot_be_are_named(address, says):
    with pytest.raises(InvalidOption, match=f"store is .*{says}") as caught:
        open_store(address)
    assert "Kj7xq" not in str(caught.value)
