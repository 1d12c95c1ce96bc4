"""Checks that a Redis can be trusted with pages."""

from __future__ import annotations

import logging
from typing import Any

from ...exceptions import StoreError
from .connection import RedisConnection

logger = logging.getLogger("scrapy_neardup")


def check_server(connection: RedisConnection) -> None:
    """Check that the server keeps what it is given.

    :raises StoreError: when it does not; what is only dangerous is logged.
    """
    connection.command("PING")
    for node, memory in _infos(connection, "memory"):
        policy = memory.get("maxmemory_policy", "noeviction")
        if policy != "noeviction":
            raise StoreError(
                connection.name,
                f"{node} has maxmemory-policy {policy!r}, with which it throws pages away when "
                "memory is short; set it to 'noeviction'",
            )
    for node, persistence in _infos(connection, "persistence"):
        if not int(persistence.get("aof_enabled", 1)) and not _has_save_points(connection):
            logger.warning(
                "Store %s: %s writes nothing to disk (neither appendonly nor save is set); "
                "when it stops, all its pages are forgotten",
                connection.name,
                node,
            )


def _infos(connection: RedisConnection, section: str) -> list[tuple[str, dict[str, Any]]]:
    """Return a section of each server's INFO; nothing where the user may not ask."""
    from redis.exceptions import NoPermissionError

    def call(client: Any) -> list[tuple[str, dict[str, Any]]]:
        if not connection.is_cluster:
            return [("it", client.info(section))]
        return [
            (node.name, client.get_redis_connection(node).info(section))
            for node in client.get_primaries()
        ]

    try:
        return connection.call(call)
    except StoreError as error:
        if isinstance(error.__cause__, NoPermissionError):
            return []
        raise


def _has_save_points(connection: RedisConnection) -> bool:
    """Return whether it writes snapshots; true where it does not say."""
    from redis.exceptions import RedisError

    def call(client: Any) -> bool:
        if connection.is_cluster:
            client = client.get_redis_connection(client.get_primaries()[0])
        try:
            return bool(client.config_get("save").get("save", "unknown"))
        except RedisError:
            return True

    return connection.call(call)
