"""Requests to a host are limited in number, spaced, and stopped during a pause."""

import asyncio
from contextlib import AsyncExitStack, suppress

import pytest

from archiver.config import Settings
from archiver.errors import FetchError
from archiver.http import politeness
from archiver.http.politeness import Throttle


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.now += seconds


def throttle(shared=None, **settings):
    clock = Clock()
    return Throttle(Settings(**settings), clock, clock.sleep, shared), clock


async def send(slot):
    async with slot.sending():
        pass


async def send_in_slot(polite):
    async with polite.slot("a.example") as slot:
        await send(slot)


async def test_pages_of_a_host_are_spaced_and_resources_are_not():
    polite, clock = throttle(host_delay=2)
    moments = []
    for is_delayed in (True, True, False, True):
        async with polite.slot("a.example", is_delayed=is_delayed):
            moments.append(clock.now)

    assert moments == [100, 102, 102, 104]


async def test_pages_are_spaced_however_long_connecting_takes():
    polite, clock = throttle(host_delay=2)
    async with polite.slot("a.example") as slow, polite.slot("a.example") as quick:
        moments = [clock.now]
        for each in (slow, quick):
            await send(each)
            moments.append(clock.now)
        async with polite.slot("a.example", is_delayed=False) as requisite:
            await send(requisite)
            moments.append(clock.now)

    assert moments == [102, 102, 104, 104]


async def test_the_delay_starts_when_the_kernel_has_the_request():
    polite, clock = throttle(host_delay=2)
    async with polite.slot("a.example") as slot, polite.slot("a.example") as next_slot:
        async with slot.sending():
            following = asyncio.create_task(send(next_slot))
            await asyncio.sleep(0)
            clock.now += 3  # until this process gets a CPU core again
        gone_out = clock.now
        await following

    assert clock.now == gone_out + 2


async def test_a_request_that_may_have_arrived_is_repeated_after_the_delay():
    polite, clock = throttle(host_delay=2)
    async with polite.slot("a.example") as slot:
        with suppress(ConnectionError):
            async with slot.sending():
                raise ConnectionError  # the connection was closed, so nothing was sent
        await send(slot)
        first = clock.now
        clock.now += 0.5  # until the missing response is noticed
        await slot.due()
        await send(slot)
        again = clock.now
    async with polite.slot("a.example") as slot:
        await send(slot)

    assert (first, again, clock.now) == (100, 102, 104)


@pytest.mark.parametrize("is_delayed", [True, False])
async def test_connected_requests_also_wait_during_a_pause(is_delayed):
    polite, clock = throttle(host_delay=2)
    async with polite.slot("a.example", is_delayed=is_delayed) as slot:
        polite.pause("a.example", 30)
        await send(slot)

    assert clock.now == 130


@pytest.mark.parametrize("is_delayed", [True, False])
async def test_a_request_waits_for_a_pause_up_to_its_limit(is_delayed):
    polite, clock = throttle(host_delay=2, host_concurrency=1)
    async with polite.slot("a.example", is_delayed=is_delayed, max_pause=10) as slot:
        polite.pause("a.example", 30)
        with pytest.raises(FetchError, match="asked for a pause"):
            await send(slot)
    with pytest.raises(FetchError, match="asked for a pause"):
        async with polite.slot("a.example", is_delayed=is_delayed, max_pause=10):
            pass
    assert clock.now == 100

    async with polite.slot("a.example", is_delayed=is_delayed, max_pause=30) as slot:
        await send(slot)
    assert clock.now == 130


class Worker:
    """One of several workers."""

    def __init__(self, workers, hosts=()):
        self.workers = workers
        self.hosts = frozenset(hosts)
        self.permitted = asyncio.Event()
        self.permitted.set()

    async def permit(self):
        await self.permitted.wait()


async def test_nothing_is_sent_while_the_worker_lock_is_lost():
    worker = Worker(1)
    polite, _ = throttle(worker)
    async with polite.slot("a.example") as slot:
        worker.permitted.clear()
        sending = asyncio.create_task(send(slot))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not sending.done()
        worker.permitted.set()
        await sending


async def test_workers_share_the_delay_of_an_unassigned_host():
    polite, clock = throttle(Worker(3, {"mine.example"}), host_delay=2)
    for host, seconds in (("mine.example", 2), ("other.example", 6)):
        start = clock.now
        for _ in range(2):
            async with polite.slot(host) as slot:
                await send(slot)
        assert clock.now - start == seconds


async def test_workers_share_the_number_of_requests_at_a_host():
    polite, _ = throttle(Worker(3), host_concurrency=6, host_delay=0)
    async with AsyncExitStack() as stack:
        async with polite.slot("a.example"):
            await stack.enter_async_context(polite.slot("a.example"))
            third = asyncio.create_task(send_in_slot(polite))
            await asyncio.sleep(0)
            assert not third.done()
        await third


async def test_a_recently_requested_host_is_remembered(monkeypatch):
    monkeypatch.setattr(politeness, "IDLE_HOSTS", 1)
    polite, clock = throttle(host_delay=2)
    async with polite.slot("a.example") as slot:
        clock.now += 5
        await send(slot)
    async with polite.slot("b.example"):
        pass
    async with polite.slot("a.example") as slot:
        await send(slot)
        assert clock.now == 107


async def test_hosts_do_not_wait_for_each_other():
    polite, clock = throttle(host_delay=2)
    for host in ("a.example", "b.example"):
        async with polite.slot(host):
            assert clock.now == 100


async def test_concurrent_requests_to_a_host_are_limited():
    polite, _ = throttle(host_delay=0, host_concurrency=2)
    running_jobs, most = 0, 0

    async def ask():
        nonlocal running_jobs, most
        async with polite.slot("a.example"):
            running_jobs += 1
            most = max(most, running_jobs)
            await asyncio.sleep(0)
            running_jobs -= 1

    await asyncio.gather(*(ask() for _ in range(9)))
    assert most == 2


async def test_a_pause_requested_by_a_host_is_kept():
    polite, clock = throttle(host_delay=0)
    polite.pause("a.example", 30)

    assert polite.paused_hosts() == ["a.example"]
    assert polite.pause_left("a.example") == 30
    async with polite.slot("a.example", is_delayed=False):
        assert clock.now == 130
    assert polite.paused_hosts() == []
