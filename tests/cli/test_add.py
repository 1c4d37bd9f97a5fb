"""``archiver add --render``, with or without a value, before or after the URLs."""

import pytest

from archiver.cli.main import cli

URL = "https://example.org/"


@pytest.mark.parametrize(
    ("given", "render", "urls"),
    [
        (["--render", URL], "always", (URL,)),
        ([URL, "--render"], "always", (URL,)),
        (["--render", "--tag", "t", URL], "always", (URL,)),
        (["--render", "--", URL], "always", (URL,)),
        (["--render", "-"], "always", ("-",)),
        (["--render", "always", URL], "always", (URL,)),
        (["--render", "never", URL], "never", (URL,)),
        (["--render=auto", URL], "auto", (URL,)),
        (["--", URL, "--render"], None, (URL, "--render")),
        ([URL], None, (URL,)),
    ],
)
def test_render_can_have_a_value_or_none(given, render, urls):
    with cli.commands["add"].make_context("add", [*given]) as read:
        assert (read.params["render"], read.params["urls"]) == (render, urls)
