"""Calls to Redis that end in time, and whose failures say what is wrong."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from ...exceptions import StoreError, StoreUnreachable
from .address import RedisAddress

logger = logging.getLogger("scrapy_neardup")

T = TypeVar("T")

#: Seconds for a connection to be made, and for one answer.
CONNECT_SECONDS = 2.0
CALL_SECONDS = 2.0

#: What Redis says when it can do nothing at present.
_NOT_NOW = re.compile(
    r"\b(BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY|TRYAGAIN)\b"
    "|not allowed when used memory"
)
#: What a client says of a handshake that fails however often it is tried.
_UNTRUSTED = "CERTIFICATE_VERIFY_FAILED"
_NO_TLS = re.compile("WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE")
_TLS_REFUSED = re.compile(r"SSL: \w*ALERT\w*")
#: What becomes of a first request that lacks TLS or a certificate, or has TLS where there is none.
_HUNG_UP = re.compile("closed by server|reset by peer|broken pipe|EOF occurred", re.IGNORECASE)
_TOO_LATE = re.compile("timeout|timed out", re.IGNORECASE)
_HAVE_TLS = "the address of one with TLS begins with rediss:"
_HAVE_NO_TLS = "the address of one without TLS begins with redis:"
_HAVE_CERTIFICATE = (
    "where it asks for a certificate, the address has it: "
    "?ssl_certfile=/path/own.pem&ssl_keyfile=/path/own.key"
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


class Link:
    """A way to a Redis, for any thread.

    All that is asked of it may be asked twice: what fails is tried once more.
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
        """Ask nothing more in this thread when so many seconds have passed."""
        self._of_thread.deadline = monotonic() + seconds
        try:
            yield
        finally:
            self._of_thread.deadline = None

    def command(self, *parts: Any) -> Any:
        """What the server answers to a command."""
        return self._tried(lambda client: client.execute_command(*parts))

    def commands(self, *commands: Sequence[Any]) -> list[Any]:
        """Answers to commands that are sent together; their keys are in one slot."""

        def call(client: Any) -> list[Any]:
            pipeline = client.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)
            answers: list[Any] = pipeline.execute()
            return answers

        return self._tried(call)

    def keys(self, pattern: str) -> list[bytes]:
        """Names of all keys of a pattern, on all servers."""
        return self._tried(lambda client: list(client.scan_iter(match=pattern, count=1000)))

    def hash(self, key: bytes) -> dict[bytes, bytes]:
        """All that a hash holds, however much, read some at a time."""
        return self._tried(lambda client: dict(client.hscan_iter(key, count=1000)))

    def highest(self, key: bytes, first: int, last: int) -> list[tuple[bytes, float]]:
        """Members of a sorted set from one rank to another, with scores, the highest first."""
        return self._tried(lambda client: client.zrevrange(key, first, last, withscores=True))

    def run(self, script: Script, keys: Sequence[bytes], *arguments: Any) -> Any:
        """What a script returns."""
        from redis.exceptions import NoScriptError

        def call(client: Any) -> Any:
            try:
                return client.execute_command(
                    "EVALSHA", script.digest, len(keys), *keys, *arguments
                )
            except NoScriptError:
                return client.execute_command("EVAL", script.source, len(keys), *keys, *arguments)

        return self._tried(call)

    @staticmethod
    def is_refusal(error: StoreError) -> bool:
        """Did the server answer, and say no? Then nothing was done."""
        from redis.exceptions import ResponseError

        return isinstance(error.__cause__, ResponseError)

    def check(self) -> None:
        """Is this a Redis that may be trusted with pages?

        :raises StoreError: when it is not; what is only dangerous is logged.
        """
        self.command("PING")
        for node, memory in self._infos("memory"):
            policy = memory.get("maxmemory_policy", "noeviction")
            if policy != "noeviction":
                raise StoreError(
                    self.name,
                    f"{node} has maxmemory-policy {policy!r}, with which it throws pages away when "
                    "memory is short; set it to 'noeviction'",
                )
        for node, persistence in self._infos("persistence"):
            if not int(persistence.get("aof_enabled", 1)) and not self._has_save_points():
                logger.warning(
                    "Store %s: %s writes nothing to disk (neither appendonly nor save is set); "
                    "when it stops, all its pages are forgotten",
                    self.name,
                    node,
                )

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()

    def _infos(self, section: str) -> list[tuple[str, dict[str, Any]]]:
        """What each server says of itself; nothing where nobody may ask."""
        from redis.exceptions import NoPermissionError

        def call(client: Any) -> list[tuple[str, dict[str, Any]]]:
            if not self.is_cluster:
                return [("it", client.info(section))]
            return [
                (node.name, client.get_redis_connection(node).info(section))
                for node in client.get_primaries()
            ]

        try:
            return self._tried(call)
        except StoreError as error:
            if isinstance(error.__cause__, NoPermissionError):
                return []
            raise

    def _has_save_points(self) -> bool:
        """Does it write snapshots? Yes, where it does not say."""
        from redis.exceptions import RedisError

        client = self._client
        try:
            if self.is_cluster:
                client = client.get_redis_connection(client.get_primaries()[0])
            return bool(client.config_get("save").get("save", "unknown"))
        except RedisError:
            return True

    def _tried(self, call: Callable[[Any], T]) -> T:
        """What a call returns, the second time if need be."""
        from redis.exceptions import (
            AuthenticationError,
            AuthorizationError,
            RedisClusterException,
            RedisError,
        )
        from redis.exceptions import ConnectionError as NoConnection
        from redis.exceptions import TimeoutError as TooLate

        is_again = False
        while True:
            self._require_time()
            try:
                answer = call(self._opened())
            except (AuthenticationError, AuthorizationError) as error:
                raise self._failed(error) from error
            except (NoConnection, TooLate) as error:
                if is_again:
                    raise self._failed(error) from error
                is_again = True
            except (RedisError, RedisClusterException, OSError) as error:
                raise self._failed(error) from error
            else:
                self.problem = None
                self._has_answered = True
                return answer

    def _require_time(self) -> None:
        deadline = getattr(self._of_thread, "deadline", None)
        if deadline is not None and monotonic() > deadline:
            self.problem = "its answers take too long"
            raise StoreUnreachable(self.name, self.problem)

    def _opened(self) -> Any:
        if self._client is None:
            self._client = self._address.client(*self._timeouts)
        return self._client

    def _failed(self, error: Exception) -> StoreError:
        """What an error of the client means."""
        import redis.exceptions as says

        error = self._reason(error)
        told = str(error) or type(error).__name__
        kind: type[StoreError] = StoreError
        if isinstance(error, says.AuthenticationError | says.AuthorizationError):
            problem = f"user or password are wrong ({told}); they go into the address"
            if self._address.kind == "sentinel":
                problem += ", those of Sentinels as ?sentinel_username=…&sentinel_password=…"
        elif isinstance(error, says.NoPermissionError):
            problem = f"its user may not do what is needed ({told}); allow it, scripts included"
        elif isinstance(error, says.InvalidResponse):
            problem = f"it does not answer as a Redis does ({told}); {_HAVE_TLS}"
        elif (complaint := _of_tls(told)) is not None:
            problem = complaint
        elif isinstance(error, says.ResponseError) and not self._is_passing(error):
            problem = f"it refused a command ({told})"
        else:
            kind, problem = StoreUnreachable, told + self._hint(told)
        self.problem = problem
        return kind(self.name, problem)

    def _reason(self, error: Exception) -> Exception:
        """What is behind an error of a cluster or of Sentinels."""
        from redis.exceptions import AuthenticationError, RedisClusterException, RedisError
        from redis.sentinel import MasterNotFoundError

        cause = error.__cause__
        if isinstance(error, RedisClusterException) and isinstance(cause, AuthenticationError):
            return cause
        if not isinstance(error, MasterNotFoundError):
            return error
        # It holds the whole client; what each Sentinel said it may not hold.
        complaints: list[Exception] = []
        sentinels = self._client.connection_pool.sentinel_manager.sentinels
        for sentinel in () if self._has_answered else sentinels:
            try:
                sentinel.ping()
            except RedisError as complaint:
                complaints.append(complaint)
        told = f"the Sentinels name no master {self._address.service!r} at present"
        complaints.append(MasterNotFoundError(told))
        return min(complaints, key=lambda told: not isinstance(told, AuthenticationError))

    def _hint(self, told: str) -> str:
        """What may be wrong with the address of a server that never said anything."""
        if self._has_answered:
            return ""
        if _HUNG_UP.search(told):
            return f"; {_HAVE_CERTIFICATE if self._address.is_tls else _HAVE_TLS}"
        return f"; {_HAVE_NO_TLS}" if self._address.is_tls and _TOO_LATE.search(told) else ""

    @staticmethod
    def _is_passing(error: Exception) -> bool:
        import redis.exceptions as says

        # The client takes the word off some of them.
        passing = (says.ClusterDownError, says.ReadOnlyError, says.TryAgainError)
        return isinstance(error, passing) or bool(_NOT_NOW.search(str(error)))


def _of_tls(told: str) -> str | None:
    """What is wrong with a handshake that fails however often it is tried."""
    if _UNTRUSTED in told:
        return (
            f"its certificate is not trusted ({told}); call it what its certificate calls it, "
            "and give its CA's in the address: ?ssl_ca_certs=/path/ca.pem"
        )
    if _NO_TLS.search(told):
        return f"it does not speak TLS ({told}); {_HAVE_NO_TLS}"
    if _TLS_REFUSED.search(told):
        return f"it refuses the handshake ({told}); {_HAVE_CERTIFICATE}"
    return None
