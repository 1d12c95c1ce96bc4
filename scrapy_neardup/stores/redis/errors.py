"""Turns errors of the package ``redis`` into errors of the store that say what would help."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from typing import Any

import redis.exceptions as says
from redis.sentinel import MasterNotFoundError

from ...exceptions import StoreError, StoreUnreachable
from .address import RedisAddress

#: What Redis says when it can do nothing at present.
_NOT_NOW = re.compile(
    r"\b(BUSY|CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY|TRYAGAIN)\b"
    "|not allowed when used memory"
)
#: The same of errors whose first word the client takes off.
_PASSING = (says.ClusterDownError, says.ReadOnlyError, says.TryAgainError)
_HAVE_TLS = "the address of one with TLS begins with rediss:"
_NO_TLS_OR_NO_CERTIFICATE = (
    "the address of one without TLS begins with redis:; where it asks for a certificate, the "
    "address has it: ?ssl_certfile=/path/own.pem&ssl_keyfile=/path/own.key"
)


def is_refusal(error: StoreError) -> bool:
    """Return whether the server answered, and refused: then nothing was done."""
    return isinstance(error.__cause__, says.ResponseError)


def store_error(
    error: Exception, address: RedisAddress, client: Any, *, has_answered: bool
) -> StoreError:
    """Return what an error of the client means.

    :param has_answered: did the server ever answer? If not, the address may be wrong.
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
