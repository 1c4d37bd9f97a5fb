"""A host is asked by few at a time, at a distance, and not at all while it rests."""

import asyncio

from archiver.config import Settings
from archiver.net import throttle as module
from archiver.net.throttle import Throttle


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    async def sleep(self, seconds):
        self.now += seconds


def throttle(**settings):
    clock = Clock()
    return Throttle(Settings(**settings), clock, clock.sleep), clock


async def test_pages_of_a_host_are_apart_and_requisites_are_not():
    polite, clock = throttle(host_delay=2)
    moments = []
    for spaced in (True, True, False, True):
        async with polite.slot("a.example", spaced=spaced):
            moments.append(clock.now)

    assert moments == [100, 102, 102, 104]


async def test_pages_go_out_apart_however_long_their_connections_took():
    polite, clock = throttle(host_delay=2)
    async with polite.slot("a.example") as slow, polite.slot("a.example") as quick:
        moments = [clock.now]
        for each in (slow, quick):
            await each.sends()
            moments.append(clock.now)
        async with polite.slot("a.example", spaced=False) as requisite:
            await requisite.sends()
            moments.append(clock.now)

    assert moments == [102, 102, 104, 104]


async def test_after_a_slow_connection_no_more_than_one_waits_connected():
    polite, clock = throttle(host_delay=2)
    async with polite.slot("a.example") as slow, polite.slot("a.example") as quick:
        clock.now += 5  # until the first is connected
        for each in (slow, quick):
            await each.sends()
    sent, connected = [clock.now], []
    for _ in range(2):
        async with polite.slot("a.example") as turn:
            connected.append(clock.now)
            await turn.sends()
            sent.append(clock.now)

    assert sent == [109, 111, 113]
    assert connected == sent[1:]


async def test_the_next_page_is_as_far_behind_one_that_had_to_go_out_again():
    polite, clock = throttle(host_delay=2)
    async with polite.slot("a.example") as turn:
        await turn.sends()
        clock.now += 1.5  # until another connection is made, for that one had ended
        await turn.sends()
        again = clock.now
    async with polite.slot("a.example") as turn:
        await turn.sends()

    assert (again, clock.now) == (101.5, 103.5)


async def test_a_host_that_was_just_asked_is_not_forgotten(monkeypatch):
    monkeypatch.setattr(module, "IDLE_HOSTS", 1)
    polite, clock = throttle(host_delay=2)
    async with polite.slot("a.example") as turn:
        clock.now += 5
        await turn.sends()
    async with polite.slot("b.example"):
        pass
    async with polite.slot("a.example") as turn:
        await turn.sends()
        assert clock.now == 107


async def test_hosts_do_not_wait_for_each_other():
    polite, clock = throttle(host_delay=2)
    for host in ("a.example", "b.example"):
        async with polite.slot(host):
            assert clock.now == 100


async def test_no_more_than_so_many_are_under_way_at_a_host():
    polite, _ = throttle(host_delay=0, host_concurrency=2)
    under_way, most = 0, 0

    async def ask():
        nonlocal under_way, most
        async with polite.slot("a.example"):
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0)
            under_way -= 1

    await asyncio.gather(*(ask() for _ in range(9)))
    assert most == 2


async def test_a_host_that_asked_for_rest_gets_it():
    polite, clock = throttle(host_delay=0)
    polite.pause("a.example", 30)

    assert polite.resting_hosts() == ["a.example"]
    assert polite.resting("a.example") == 30
    async with polite.slot("a.example", spaced=False):
        assert clock.now == 130
    assert polite.resting_hosts() == []


async def test_who_waits_for_a_host_hears_that_it_asked_for_rest():
    polite, clock = throttle(host_delay=2)
    slept = []

    async def sleep(seconds):
        clock.now += seconds
        if not slept:
            polite.pause("a.example", 30)
        slept.append(seconds)

    async with polite.slot("a.example"):
        polite._sleep = sleep
    async with polite.slot("a.example"):
        assert (clock.now, slept) == (132, [2, 30])
