"""Statements that go to a server without a wait for each: none is lost, and no failure of one."""

import pytest
from archiver.index.dialect.postgres_address import read_address
from archiver.index.dialect.postgres_connection import connect
from archiver.index.dialect.postgres_wire import MOST_OWED, numbered
from pg8000.dbapi import DatabaseError

from benchmarks.cluster import Proxy

INSERT = "INSERT INTO kept VALUES (%s)"


@pytest.fixture
def conn(address):
    opened = connect(read_address(address))
    run(opened, "CREATE TABLE kept (number bigint PRIMARY KEY)")
    opened.commit()
    yield opened
    opened.close()


def run(conn, statement, *values):
    cursor = conn.cursor()
    cursor.execute(statement, values)
    return [tuple(row) for row in cursor.fetchall()] if cursor.description else []


def tell(conn, *numbers):
    with conn.unanswered():
        for number in numbers:
            run(conn, INSERT, number)


def kept(conn):
    return [number for (number,) in run(conn, "SELECT number FROM kept ORDER BY number")]


def test_the_parameters_of_a_statement_are_numbered_once_however_often_it_is_run(conn):
    numbered.cache_clear()

    answers = [run(conn, "SELECT %s::bigint, '%% %s', %s::text", n, "a %s b") for n in range(3)]

    assert answers == [[(n, "%% %s", "a %s b")] for n in range(3)]
    assert numbered.cache_info().misses == 1


def test_what_nobody_waited_for_is_there_however_much_it_is(conn):
    numbers = [*range(3 * MOST_OWED + 1)]

    tell(conn, *numbers)
    conn.commit()

    assert kept(conn) == numbers


def test_what_failed_unseen_is_raised_by_the_next_that_is_waited_for(conn):
    tell(conn, 1, 1, 2)

    with pytest.raises(DatabaseError, match="duplicate key"):
        run(conn, "SELECT %s::bigint", 1)

    conn.rollback()
    assert kept(conn) == []


def test_a_commit_of_what_failed_unseen_raises_and_commits_nothing(conn):
    tell(conn, 1, 1)

    with pytest.raises(DatabaseError, match="duplicate key"):
        conn.commit()

    assert kept(conn) == []


def test_taking_back_what_failed_unseen_raises_nothing(conn):
    tell(conn, 1, 1)

    conn.rollback()

    tell(conn, 1)
    assert kept(conn) == [1]


@pytest.mark.parametrize("wrong", ["SELECT * FROM nowhere", "SELECT %s::bigint / 0"])
def test_a_statement_that_is_refused_says_so_and_the_connection_goes_on(conn, wrong):
    with pytest.raises(DatabaseError):
        run(conn, wrong, *([1] if "%" in wrong else []))

    conn.rollback()
    assert run(conn, "SELECT %s::bigint, %s::text", 7, None) == [(7, None)]


def test_a_transaction_waits_for_what_is_asked_and_for_its_end(conn, address):
    with Proxy(address, 0) as proxy:
        other = connect(read_address(proxy.address))
        before = proxy.trips

        tell(other, 1, 2, 3)
        assert kept(other) == [1, 2, 3]
        other.commit()

        assert proxy.trips == before + 2
        other.close()
