"""Compares our SURT keys with those of the ``surt`` library, for generated URLs.

Usage: python -m benchmarks.surt_oracle [--surt DIR] [--urls FILE] [--examples N]

DIR is the ``bin`` of an environment with ``surt`` (PyPI; AGPL, so it runs as another program and is
not a dependency); without it, one is created in a temporary folder. FILE contains further URLs,
one per line. Hypothesis looks for the shortest URL with different keys.
"""

import argparse
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from archiver.errors import InvalidUrl
from archiver.http.surt import surt
from archiver.http.urls import parse_url
from benchmarks.environments import environment_with

SESSION = "0123456789ABCDEF0123456789abcdef"
HOSTS = """
example.com www.example.com WWW2.Example.co.uk 127.0.0.1 10.8.0.1:8080 256 0.0.0.0 localhost:80
[::1] [2001:db8::1]:81 a..b ..a.b. www.com www..a bücher.de a_b.c 9gag.com www1234.a.b:0
""".split()
PIECES = f"""
/ // /. /.. A b %25 %2525 %2F %2e %5C %C3%BC %c3 % %4 %4%31 %%34%31 ? %3F & %26 = a=1 a= B=2 + %20
# %23 \\ ~ | ^ " ' < ü %0A %00 %7F ! $ ; : @ , . .. * .aspx /x.aspx (S(abcdefghijklmnopqrstuvwx))
(abcdefghijklmnopqrstuvwx) jsessionid={SESSION} &sid={SESSION} PHPSESSID={SESSION} cfid= cftoken=2
&ASPSESSIONIDabcdefgh=ABCDEFGHIJKLMNOPQRSTUVWX cfid=1&cftoken=2
""".split()
URLS = st.builds(
    lambda scheme, host, pieces: f"{scheme}://{host}/{''.join(pieces)}",
    st.sampled_from(["http", "https"]),
    st.sampled_from(HOSTS),
    st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=10),
)
ORACLE = """
import sys, surt
for line in sys.stdin:
    print(surt.surt(line.rstrip("\\n")), flush=True)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--surt", type=Path, help="bin folder of an environment with surt")
    parser.add_argument("--urls", type=Path, help="further URLs, one a line")
    parser.add_argument("--examples", type=int, default=20_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        programs = options.surt or environment_with(Path(directory), "surt")
        with oracle(programs) as key_of:
            given_urls = options.urls.read_text().split() if options.urls else []
            compared = sum(compare(url, key_of) for url in given_urls)
            print(f"the same for {compared:,} URLs of the file" if given_urls else "no file given")
            search(key_of, options.examples)
            print(f"the same for {options.examples:,} URLs that were made up")


def search(key_of: Callable[[str], str], examples: int) -> None:
    """Generate URLs until the keys of one differ, or all examples are done."""

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(URLS)
    def all_are_the_same(url: str) -> None:
        compare(url, key_of)

    all_are_the_same()


def compare(given_url: str, key_of: Callable[[str], str]) -> bool:
    """Compare the keys of one URL in the form we store; False if it is not a URL."""
    with suppress(InvalidUrl):
        url = parse_url(given_url)
        ours, theirs = surt(url), key_of(url)
        if ours != theirs:
            raise AssertionError(f"{url}\n  ours:  {ours}\n  surt:  {theirs}")
        return True
    return False


@contextmanager
def oracle(programs: Path) -> Iterator[Callable[[str], str]]:
    """Yield a function for the library's key of a URL, computed in another process."""
    command = [programs / "python", "-W", "ignore", "-c", ORACLE]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise SystemExit("The library was started without pipes.")
        requests, answers = process.stdin, process.stdout

        def key_of(url: str) -> str:
            requests.write(f"{url}\n")
            requests.flush()
            return answers.readline().rstrip("\n")

        yield key_of


if __name__ == "__main__":
    main()
