"""Addresses of Redis servers, and clients for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from ..exceptions import InvalidOption

_FORMS = (
    "'redis://[user:password@]host:port/db', 'rediss://…', "
    "'redis+sentinel://[user:password@]host:port,host:port/service/db' or "
    "'redis+cluster://[user:password@]host:port,host:port'"
)
_SCHEME = re.compile(r"redis(?P<tls>s?)(?:\+(?P<kind>sentinel|cluster))?://")
_PORTS = {"one": 6379, "cluster": 6379, "sentinel": 26379}


@dataclass(frozen=True)
class RedisAddress:
    """Where a Redis is, and as whom to go there.

    :ivar kind: one server, those that Sentinels name, or a cluster.
    :ivar hosts: of the server, of Sentinels, or of some nodes of the cluster, with their ports.
    :ivar user: and ``password``: for the servers; Sentinels are asked without.
    :ivar database: 0 or more.
    :ivar service: what the Sentinels call it.
    """

    kind: Literal["one", "sentinel", "cluster"]
    hosts: tuple[tuple[str, int], ...]
    is_tls: bool = False
    user: str | None = None
    password: str | None = None
    database: int = 0
    service: str = ""

    @classmethod
    def parse(cls, address: str) -> RedisAddress:
        """The address that is written so.

        :raises InvalidOption: when it is none; without the password.
        """
        if (scheme := _SCHEME.match(address)) is None:
            raise _wrong(address)
        kind: Any = scheme["kind"] or "one"
        # A password may hold any of the signs between the parts, though it better did not.
        login, _, place = address[scheme.end() :].rpartition("@")
        user, _, password = (unquote(part) for part in login.partition(":"))
        names, _, path = place.partition("/")
        parts = path.split("/") if path else []
        service = parts.pop(0) if kind == "sentinel" and parts else ""
        database = parts.pop(0) if kind != "cluster" and parts else ""
        if parts or (kind == "sentinel" and not service) or not re.fullmatch(r"\d*", database):
            raise _wrong(address)
        try:
            hosts = tuple(_host(name, _PORTS[kind]) for name in names.split(","))
        except ValueError:
            raise _wrong(address) from None
        if kind == "one" and len(hosts) > 1:
            raise _wrong(address)
        return cls(
            kind, hosts, bool(scheme["tls"]), user or None, password or None, int(database or 0),
            service,
        )  # fmt: skip

    @property
    def name(self) -> str:
        """The address without user and password."""
        scheme = f"redis{'s' * self.is_tls}" + f"+{self.kind}" * (self.kind != "one")
        hosts = ",".join(f"[{h}]:{p}" if ":" in h else f"{h}:{p}" for h, p in self.hosts)
        path = {
            "one": f"/{self.database}",
            "sentinel": f"/{self.service}/{self.database}",
            "cluster": "",
        }
        return f"{scheme}://{hosts}{path[self.kind]}"

    def client(self, connect_timeout: float, call_timeout: float) -> Any:
        """A client of the package ``redis``; it tries nothing again by itself.

        :param connect_timeout: and ``call_timeout``: seconds.
        :raises InvalidOption: when the package is not installed.
        """
        options: dict[str, Any] = {
            "username": self.user,
            "password": self.password,
            "socket_connect_timeout": connect_timeout,
            "socket_timeout": call_timeout,
            "socket_keepalive": True,
            "ssl": self.is_tls,
        }
        try:
            import redis
        except ImportError:
            raise InvalidOption(
                "store",
                self.name,
                "of another kind while the package redis is not installed: "
                "pip install 'scrapy-neardup[redis]'",
            ) from None
        makers = {"one": self._one, "sentinel": self._sentinel, "cluster": self._cluster}
        return makers[self.kind](redis, options)

    def _one(self, redis: Any, options: Mapping[str, Any]) -> Any:
        [(host, port)] = self.hosts
        return redis.Redis(
            host=host, port=port, db=self.database, retry=_retry(redis, 0), **options
        )

    def _sentinel(self, redis: Any, options: Mapping[str, Any]) -> Any:
        login = ("username", "password")
        unnamed = {name: value for name, value in options.items() if name not in login}
        sentinel: Any = import_module("redis.sentinel")
        sentinels = sentinel.Sentinel(
            self.hosts, sentinel_kwargs={**unnamed, "retry": _retry(redis, 0)}
        )
        return sentinels.master_for(
            self.service, db=self.database, retry=_retry(redis, 0), **options
        )

    def _cluster(self, redis: Any, options: Mapping[str, Any]) -> Any:
        nodes = [redis.cluster.ClusterNode(host, port) for host, port in self.hosts]
        # One more try, after which it knows which node has become the master.
        return redis.RedisCluster(startup_nodes=nodes, retry=_retry(redis, 1), **options)


def _retry(redis: Any, tries: int) -> Any:
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    return Retry(NoBackoff(), tries)


def _host(name: str, default_port: int) -> tuple[str, int]:
    """:raises ValueError: when this is no host."""
    parts = urlsplit(f"//{name}")
    if not parts.hostname or parts.path or parts.query or parts.fragment:
        raise ValueError(name)
    return parts.hostname, parts.port or default_port


def _wrong(address: str) -> InvalidOption:
    scheme, _, place = address.partition(":")
    if "@" in place:
        address = f"{scheme}://***@{place.rpartition('@')[2]}"
    return InvalidOption("store", address, _FORMS)
