from archiver.web.client_limits import LoginThrottle


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_five_failures_are_free_then_the_wait_doubles_to_five_minutes():
    clock = Clock()
    attempts = LoginThrottle(clock)
    waits = []

    for _ in range(20):
        attempts.wrong("192.0.2.1")
        waits.append(attempts.wait("192.0.2.1"))
        clock.now += waits[-1]

    assert waits[:8] == [0, 0, 0, 0, 1, 2, 4, 8]
    assert waits[-1] == 300


def test_a_success_or_an_hour_resets_the_failures():
    clock = Clock()
    attempts = LoginThrottle(clock)
    for _ in range(5):
        attempts.wrong("192.0.2.1")
        attempts.wrong("192.0.2.2")

    attempts.right("192.0.2.1")
    clock.now += 3601
    attempts.wrong("192.0.2.1")
    attempts.wrong("192.0.2.2")

    assert attempts.wait("192.0.2.1") == 0
    assert attempts.wait("192.0.2.2") == 0


def test_an_ipv6_network_counts_as_one_client():
    attempts = LoginThrottle(Clock())
    for n in range(6):
        attempts.wrong(f"2001:db8::{n}")

    assert attempts.wait("2001:db8::ffff:1") > 0
    assert attempts.wait("2001:db8:0:1::1") == 0
    assert attempts.wait(None) == 0


def test_the_number_of_tracked_clients_is_bounded():
    attempts = LoginThrottle(Clock())

    for n in range(5000):
        attempts.wrong(f"10.0.{n >> 8}.{n & 255}")

    assert len(attempts) == 1024
