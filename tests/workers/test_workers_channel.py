"""Messages between a supervisor and its worker, each within a time limit."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import monotonic

import pytest

from scrapy_neardup.workers.worker import Channel

#: More than the buffers of a socket pair hold.
LARGE = bytes(range(256)) * 20_000
SOON = 0.05


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


@pytest.fixture
def aside() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


@pytest.mark.parametrize("seconds", [None, 60])
def test_large_messages_arrive_whole_and_in_order(ends, aside, seconds):
    one, other = map(Channel, ends)
    deadline = None if seconds is None else monotonic() + seconds
    messages = [LARGE, "a", LARGE[::-1], []]

    def send_all() -> None:
        for message in messages:
            one.send(message, deadline)

    sent = aside.submit(send_all)
    assert [other.receive(deadline) for _ in messages] == messages
    sent.result()


@pytest.mark.parametrize(
    ("received_before", "call"),
    [
        (b"", lambda channel: channel.send(LARGE, monotonic() + SOON)),
        (b"", lambda channel: channel.receive(monotonic() + SOON)),
        # a part of the length; the length and a part of what it announces
        (bytes(3), lambda channel: channel.receive(monotonic() + SOON)),
        (bytes(7) + b"\t12", lambda channel: channel.receive(monotonic() + SOON)),
        (b"", lambda channel: channel.receive(monotonic() - 1)),
    ],
)
def test_a_side_that_stands_still_ends_the_wait_at_the_deadline(ends, received_before, call):
    ours, its = ends
    its.sendall(received_before)
    with pytest.raises(TimeoutError):
        call(Channel(ours))


def test_a_limit_holds_for_one_message_only(ends, aside):
    ours, its = map(Channel, ends)
    with pytest.raises(TimeoutError):
        ours.receive(monotonic() + SOON)
    received = aside.submit(ours.receive)
    with pytest.raises(TimeoutError):
        received.result(4 * SOON)
    its.send("late")
    assert received.result(10) == "late"


@pytest.mark.parametrize(
    ("call", "error"), [(Channel.receive, EOFError), (lambda c: c.send(LARGE), OSError)]
)
def test_shutting_a_channel_down_wakes_who_waits(
    ends, aside, call: Callable[[Channel], object], error
):
    channel, has_begun = Channel(ends[0]), Event()

    def wait() -> None:
        has_begun.set()
        call(channel)

    waiting = aside.submit(wait)
    has_begun.wait(10)
    channel.shut_down()
    with pytest.raises(error):
        waiting.result(10)
