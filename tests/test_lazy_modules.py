"""Modules of Python's own that run only where they are used."""

import subprocess
import sys
from textwrap import dedent

LAZY = """
import sys
from archiver.lazy_modules import LAZY, load_lazily
load_lazily()

def has_run(name):
    return "__getattr__" not in vars(sys.modules[name])
"""


def run(code: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", LAZY + dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_what_others_import_without_using_it_does_not_run() -> None:
    found = run("""
        import asyncio, sqlalchemy
        asyncio.run(asyncio.sleep(0))
        print(*filter(has_run, LAZY & sys.modules.keys()))
        print(*({"_hashlib", "_ssl", "email", "zipfile"} & sys.modules.keys()))
    """)

    assert found.split() == []


def test_each_is_whole_once_it_is_asked_for_something() -> None:
    found = run("""
        from importlib import import_module
        for name in sorted(LAZY):
            module = import_module(name)
            public = getattr(module, "__all__", None) or dir(module)
            assert has_run(name), name
            assert all(hasattr(module, each) for each in public), name
            assert module.__spec__.loader is module.__loader__, name
            assert getattr(import_module(name), "__file__") == module.__spec__.origin
        import importlib.metadata, html, ssl, difflib
        from importlib import metadata
        print(importlib.metadata.version("archiver") == metadata.version("archiver"),
              html.unescape("&eacute;"), ssl.create_default_context().check_hostname,
              difflib.get_close_matches("tga", ["tag"])[0])
    """)

    assert found.split() == ["True", "é", "True", "tag"]


def test_what_it_lacks_it_lacks_as_any_module_does() -> None:
    found = run("""
        import html
        print(hasattr(html, "nothing"), has_run("html"), hasattr(html, "nothing"))
        try:
            from ssl import nothing
        except ImportError as error:
            print(error.name)
    """)

    assert found.split() == ["False", "True", "False", "ssl"]


def test_one_that_fails_to_run_says_why_each_time_and_runs_once_it_can() -> None:
    found = run("""
        import html
        sys.modules["html.entities"] = None
        for _ in range(2):
            try:
                html.escape
            except ImportError as error:
                print(error.name)
        del sys.modules["html.entities"]
        print(html.unescape("&eacute;"), has_run("html"))
    """)

    assert found.split() == ["html.entities", "html.entities", "é", "True"]


def test_threads_that_ask_at_once_find_it_whole() -> None:
    found = run("""
        import importlib.metadata, threading
        together, found = threading.Barrier(8), []

        def ask():
            together.wait()
            found.append(importlib.metadata.PackageNotFoundError.__name__)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        print(len(found))
    """)

    assert found.split() == ["8"]


def test_tls_is_spoken_where_it_is_asked_for() -> None:
    found = run("""
        import asyncio, ssl
        from archiver.net.gate_key import make_gate_key

        async def answer(reader, writer):
            writer.write(await reader.readline())
            writer.close()

        async def ask():
            anybody = ssl.create_default_context()
            anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
            server = await asyncio.start_server(
                answer, "127.0.0.1", 0, ssl=make_gate_key().tls
            )
            port = server.sockets[0].getsockname()[1]
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=anybody)
            writer.write(b"there and back")
            writer.write(bytes([10]))
            line = await reader.readline()
            writer.close()
            server.close()
            return line.decode()

        print(asyncio.run(ask()), has_run("asyncio.sslproto"))
    """)

    assert found.split() == ["there", "and", "back", "True"]
