"""Calls to Redis that end in time, and a check that a server can be trusted with pages.

Errors of the package ``redis`` become errors of the store that say what would help.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import redis.exceptions as says
from redis.sentinel import MasterNotFoundError

from ...exceptions import StoreError, StoreUnreachable
from .address import RedisAddress

T = TypeVar("T")

logger = logging.getLogger("scrapy_neardup")

#: Seconds for a connection to be made, and for one answer.
CONNECT_SECONDS = 2.0
CALL_SECONDS = 2.0

#: All that the client raises; what may pass is tried again, unless the login is wrong.
_ERRORS = (says.RedisError, says.RedisClusterException, OSError)
_MAY_PASS = (says.ConnectionError, says.TimeoutError)
_LOGIN_IS_WRONG = (says.AuthenticationError, says.AuthorizationError)

#: Messages of a Redis that can do nothing at present.
_NOT_NOW = re.compile(
    r"\b(BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY|TRYAGAIN)\b"
    "|not allowed when used memory"
)
#: Errors with such messages, whose first word redis-py removes.
_PASSING = (says.ClusterDownError, says.ReadOnlyError, says.TryAgainError)
_HAVE_TLS = "the address of one with TLS begins with rediss:"
_NO_TLS_OR_NO_CERTIFICATE = (
    "the address of one without TLS begins with redis:; where it asks for a certificate, the "
    "address has it: ?ssl_certfile=/path/own.pem&ssl_keyfile=/path/own.key"
)

_FOLDER = Path(__file__).parent / "lua"


class Script:
    """A script that the server runs in one atomic step.

    :param name: of its file.
    """

    def __init__(self, name: str) -> None:
        texts = [(_FOLDER / f"{part}.lua").read_bytes() for part in ("common", name)]
        self.source = b"\n".join(texts)
        self.digest = hashlib.sha1(self.source, usedforsecurity=False).hexdigest()


class RedisConnection:
    """A connection to a Redis, for any thread.

    Every call may be sent twice: one that fails is tried once more. What one call of
    :meth:`commands` sends together has its keys in one slot.
    """

    def __init__(
        self,
        address: RedisAddress,
        connect_timeout: float = CONNECT_SECONDS,
        call_timeout: float = CALL_SECONDS,
    ) -> None:
        self.name = address.name
        self.is_cluster = address.kind == "cluster"
        #: What went wrong with the last call; ``None`` after a success.
        self.problem: str | None = None
        self._address = address
        self._has_answered = False
        self._timeouts = connect_timeout, call_timeout
        self._client: Any = None
        self._of_thread = threading.local()

    @contextlib.contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Raise from calls of this thread after so many seconds."""
        self._of_thread.deadline = monotonic() + seconds
        try:
            yield
        finally:
            self._of_thread.deadline = None

    def command(self, *parts: Any) -> Any:
        return self.call(lambda client: client.execute_command(*parts))

    def commands(self, *commands: Sequence[Any]) -> list[Any]:
        def call(client: Any) -> list[Any]:
            pipeline = client.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)
            answers: list[Any] = pipeline.execute()
            return answers

        return self.call(call)

    def run(self, script: Script, keys: Sequence[bytes], *arguments: Any) -> Any:
        def call(client: Any) -> Any:
            try:
                return client.execute_command(
                    "EVALSHA", script.digest, len(keys), *keys, *arguments
                )
            except says.NoScriptError:
                return client.execute_command("EVAL", script.source, len(keys), *keys, *arguments)

        return self.call(call)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def call(self, call: Callable[[Any], T]) -> T:
        """Return what a function of the client returns, at the second try if need be.

        :raises StoreUnreachable: when it failed in a way that may pass.
        :raises StoreError: when it failed in another way.
        """
        is_again = False
        while True:
            self._require_time()
            try:
                if self._client is None:
                    self._client = self._address.client(*self._timeouts)
                answer = call(self._client)
            except _ERRORS as error:
                may_pass = isinstance(error, _MAY_PASS) and not isinstance(error, _LOGIN_IS_WRONG)
                if is_again or not may_pass:
                    failure = store_error(
                        error, self._address, self._client, has_answered=self._has_answered
                    )
                    self.problem = failure.problem
                    raise failure from error
                is_again = True
            else:
                self.problem = None
                self._has_answered = True
                return answer

    def _require_time(self) -> None:
        deadline = getattr(self._of_thread, "deadline", None)
        if deadline is not None and monotonic() > deadline:
            self.problem = "its answers take too long"
            raise StoreUnreachable(self.name, self.problem)


def check_server(connection: RedisConnection) -> None:
    """Check that the server keeps what it is given.

    :raises StoreError: when it does not; what is only dangerous is logged.
    """
    connection.command("PING")

    def ask(client: Any) -> list[tuple[str, dict[str, Any], bool]]:
        servers = {"it": client}
        if connection.is_cluster:
            nodes = client.get_primaries()
            servers = {node.name: client.get_redis_connection(node) for node in nodes}
        try:
            return [(name, one.info(), _has_save_points(one)) for name, one in servers.items()]
        except says.NoPermissionError:
            return []

    for server, info, has_save_points in connection.call(ask):
        policy = info.get("maxmemory_policy", "noeviction")
        if policy != "noeviction":
            raise StoreError(
                connection.name,
                f"{server} has maxmemory-policy {policy!r}, with which it evicts pages when "
                "memory is short; set it to 'noeviction'",
            )
        if not has_save_points and not int(info.get("aof_enabled", 1)):
            logger.warning(
                "Store %s: %s writes nothing to disk (neither appendonly nor save is set); "
                "when it stops, all its pages are forgotten",
                connection.name,
                server,
            )


def _has_save_points(client: Any) -> bool:
    """Return whether a server writes snapshots; true where it does not say."""
    try:
        return bool(client.config_get("save").get("save", "unknown"))
    except says.RedisError:
        return True


def is_refusal(error: StoreError) -> bool:
    """Return whether the server answered, and refused: then nothing was done."""
    return isinstance(error.__cause__, says.ResponseError)


def store_error(
    error: Exception, address: RedisAddress, client: Any, *, has_answered: bool
) -> StoreError:
    """Return what an error of the client means.

    :param has_answered: whether the server has ever answered. If not, the address may be wrong.
    """
    error = _reason(error, address, client, has_answered=has_answered)
    causes = list(_causes(error))
    told = str(error) or type(error).__name__
    if isinstance(error, says.AuthenticationError | says.AuthorizationError):
        problem = f"user or password are wrong ({told}); they go into the address"
        if address.kind == "sentinel":
            problem += ", those of Sentinels as ?sentinel_username=…&sentinel_password=…"
    elif isinstance(error, says.NoPermissionError):
        problem = f"its user may not do what is needed ({told}); allow it, scripts included"
    elif isinstance(error, says.InvalidResponse):
        problem = f"it does not answer as a Redis does ({told}); {_HAVE_TLS}"
    elif _has(causes, ssl.SSLCertVerificationError):
        problem = (
            f"its certificate is not trusted ({told}); call it what its certificate calls it, "
            "and give its CA's in the address: ?ssl_ca_certs=/path/ca.pem"
        )
    # The end of a connection may pass; whatever else TLS complains of will not.
    elif _has(causes, ssl.SSLError) and not _has(causes, ssl.SSLEOFError, ssl.SSLZeroReturnError):
        problem = f"the TLS handshake fails ({told}); {_NO_TLS_OR_NO_CERTIFICATE}"
    elif isinstance(error, says.ResponseError) and not (
        isinstance(error, _PASSING) or _NOT_NOW.search(told)
    ):
        problem = f"it refused a command ({told})"
    else:
        hint = "" if has_answered else _hint(causes, address)
        return StoreUnreachable(address.name, told + hint)
    return StoreError(address.name, problem)


def _reason(
    error: Exception, address: RedisAddress, client: Any, *, has_answered: bool
) -> Exception:
    """Return what is behind an error of a cluster or of Sentinels."""
    cause = error.__cause__
    if isinstance(error, says.RedisClusterException) and isinstance(
        cause, says.AuthenticationError
    ):
        return cause
    if not isinstance(error, MasterNotFoundError):
        return error
    # It holds the whole client; what each Sentinel said it may not hold.
    sentinels = client.connection_pool.sentinel_manager.sentinels
    for sentinel in () if has_answered else sentinels:
        try:
            sentinel.ping()
        except says.AuthenticationError as complaint:
            return complaint
        except says.RedisError:
            continue
    return MasterNotFoundError(f"the Sentinels name no master {address.service!r} at present")


def _hint(causes: list[BaseException], address: RedisAddress) -> str:
    """Return what may be wrong with the address of a server that never answered."""
    if _has(causes, ConnectionRefusedError, socket.gaierror):
        return ""
    is_late = _has(causes, says.TimeoutError, TimeoutError)
    is_closed = any(type(cause) is says.ConnectionError for cause in causes)
    if address.is_tls and (is_late or is_closed):
        return f"; {_NO_TLS_OR_NO_CERTIFICATE}"
    return f"; {_HAVE_TLS}" if is_closed and not is_late else ""


def _has(causes: list[BaseException], *kinds: type[Exception]) -> bool:
    return any(isinstance(cause, kinds) for cause in causes)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
