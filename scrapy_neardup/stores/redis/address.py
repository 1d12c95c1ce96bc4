"""Addresses of Redis servers, and clients for them."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from redis import Redis, RedisCluster
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode
from redis.retry import Retry
from redis.sentinel import Sentinel

from ...exceptions import InvalidOption

_FORMS = (
    "'redis://[user:password@]host:port/db', 'rediss://…', "
    "'redis+sentinel://[user:password@]host:port,host:port/service/db' or "
    "'redis+cluster://[user:password@]host:port,host:port'"
)
#: The hosts come behind the last "@" before the options: a password may have any character.
_ADDRESS = re.compile(
    r"redis(?P<tls>s?)(?:\+(?P<kind>sentinel|cluster))?://(?:(?P<login>.*?)@)?(?P<hosts>[^/?@]+)"
    r"(?:/(?P<path>[^?@]*))?(?:\?(?P<options>(?:ssl|sentinel)_.*))?"
)
#: What may stand behind the hosts, for each kind.
_PATHS = {"one": r"(?P<db>\d*)", "sentinel": r"(?P<service>[^/]+)(/(?P<db>\d*))?", "cluster": ""}
_CHECK = "ssl_check_hostname"
_TLS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", _CHECK)
_LOGIN = {"sentinel_username": "username", "sentinel_password": "password"}
_SWITCH = {"true": True, "false": False}
_PORTS = {"one": 6379, "cluster": 6379, "sentinel": 26379}


@dataclass(frozen=True)
class RedisAddress:
    """The address of a Redis, with the user and password for it.

    :ivar kind: one server, those that Sentinels name, or a cluster.
    :ivar hosts: of the server, of Sentinels, or of some nodes of the cluster, with their ports.
    :ivar user: and ``password``: for the servers.
    :ivar database: 0 or more.
    :ivar service: what the Sentinels call it.
    :ivar options: by their names behind the question mark. With TLS ``ssl_ca_certs``,
        ``ssl_certfile`` and ``ssl_keyfile`` (paths of PEM files) and ``ssl_check_hostname``
        (``true`` or ``false``), all as the package ``redis`` has them; for Sentinels
        ``sentinel_username`` and ``sentinel_password``.
    """

    kind: Literal["one", "sentinel", "cluster"]
    hosts: tuple[tuple[str, int], ...]
    is_tls: bool = False
    user: str | None = None
    password: str | None = None
    database: int = 0
    service: str = ""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def parse(cls, address: str) -> RedisAddress:
        """Return the parsed address.

        :raises InvalidOption: when it is malformed; the message has no password.
        """
        found = _ADDRESS.fullmatch(address)
        if found is None:
            raise _wrong(address)
        kind: Any = found["kind"] or "one"
        path = re.fullmatch(_PATHS[kind], found["path"] or "")
        try:
            hosts = tuple(_host(name, _PORTS[kind]) for name in found["hosts"].split(","))
        except ValueError:
            hosts = ()
        if path is None or not hosts or (kind == "one" and len(hosts) > 1):
            raise _wrong(address)
        where = path.groupdict()
        user, _, password = (unquote(part) for part in (found["login"] or "").partition(":"))
        # A plus is a plus, for a password may have one.
        options = dict(parse_qsl((found["options"] or "").replace("+", "%2B"), True))
        parsed = cls(
            kind, hosts, bool(found["tls"]), user or None, password or None,
            int(where.get("db") or 0), where.get("service") or "", options,
        )  # fmt: skip
        parsed._require_options()
        return parsed

    def _require_options(self) -> None:
        """:raises InvalidOption: when an option is none, or says nothing of such an address."""
        known = (*_TLS * self.is_tls, *_LOGIN) if self.kind == "sentinel" else _TLS * self.is_tls
        for name in self.options:
            if name not in known:
                expected = f"with no option but {', '.join(known)}" if known else "without it"
                raise InvalidOption("store", f"{self.name}?{name}=…", expected)
        if (switch := self.options.get(_CHECK, "true")) not in _SWITCH:
            raise InvalidOption("store", f"{self.name}?{_CHECK}={switch}", "with true or false")
        if "ssl_keyfile" in self.options and "ssl_certfile" not in self.options:
            raise InvalidOption("store", f"{self.name}?ssl_keyfile=…", "with ssl_certfile as well")

    @property
    def name(self) -> str:
        """The address without user, password and options."""
        scheme = f"redis{'s' * self.is_tls}" + f"+{self.kind}" * (self.kind != "one")
        hosts = ",".join(f"[{h}]:{p}" if ":" in h else f"{h}:{p}" for h, p in self.hosts)
        path = {
            "one": f"/{self.database}",
            "sentinel": f"/{self.service}/{self.database}",
            "cluster": "",
        }
        return f"{scheme}://{hosts}{path[self.kind]}"

    def client(self, connect_timeout: float, call_timeout: float) -> Any:
        """Return a client of the package ``redis`` that retries nothing by itself.

        :param connect_timeout: and ``call_timeout``: seconds.
        :raises InvalidOption: when a certificate cannot be read.
        """
        options: dict[str, Any] = {
            "username": self.user,
            "password": self.password,
            "socket_connect_timeout": connect_timeout,
            "socket_timeout": call_timeout,
            "socket_keepalive": True,
            "ssl": self.is_tls,
            "retry": Retry(NoBackoff(), 0),
        }
        if self.is_tls:
            self._require_certificates()
            options |= {name: self.options.get(name) for name in _TLS}
            # Older clients do not ask whose certificate it is unless they are told to.
            options[_CHECK] = _SWITCH[self.options.get(_CHECK, "true")]
        if self.kind == "cluster":
            # One more try, after which it knows which node has become the master.
            options["retry"] = Retry(NoBackoff(), 1)
            nodes = [
                ClusterNode(host, port)  # type: ignore[no-untyped-call]
                for host, port in self.hosts
            ]
            return RedisCluster(startup_nodes=nodes, **options)
        if self.kind == "sentinel":
            login = {name: self.options.get(option) for option, name in _LOGIN.items()}
            sentinels: Any = Sentinel(  # type: ignore[no-untyped-call]
                self.hosts, sentinel_kwargs={**options, **login}
            )
            return sentinels.master_for(self.service, db=self.database, **options)
        [(host, port)] = self.hosts
        return Redis(host=host, port=port, db=self.database, **options)

    def _require_certificates(self) -> None:
        """:raises InvalidOption: when a file of the options cannot be used."""
        context = ssl.create_default_context()
        # Without a password the terminal would be asked for that of a locked key.
        own = partial(context.load_cert_chain, keyfile=self.options.get("ssl_keyfile"), password="")
        for option, load in (
            ("ssl_ca_certs", context.load_verify_locations),
            ("ssl_certfile", own),
        ):
            path = self.options.get(option)
            try:
                if path is not None:
                    load(path)
            except OSError as error:
                raise InvalidOption(
                    "store",
                    f"{self.name}?{option}={path}",
                    f"with a PEM file that can be used ({error.strerror or error})",
                ) from None


def _host(name: str, default_port: int) -> tuple[str, int]:
    """:raises ValueError: when this is no host."""
    parts = urlsplit(f"//{name}")
    if not parts.hostname or parts.path or parts.query or parts.fragment:
        raise ValueError(name)
    return parts.hostname, parts.port or default_port


def _wrong(address: str) -> InvalidOption:
    """Return the error for an address, without what may be a password."""
    scheme = address.partition(":")[0]
    shown = re.split(r"\?(?:ssl|sentinel)_", address)[0]
    if "@" in address:
        _, login, place = shown.rpartition("@")
        shown = f"{scheme}://***@{place if login else ''}"
    return InvalidOption("store", shown, _FORMS)
