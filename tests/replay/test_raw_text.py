import pytest

from archiver.replay.tag_syntax import ScriptEnd


@pytest.mark.parametrize(
    ("script", "length"),
    [
        ("x</script>", 1),
        ("x</SCRIPT\n>", 1),
        ("x</scripty></script>", 11),
        ("<!--</script>", 4),
        ("<!--<script></script></script>", 21),
        ("<!--<script>--></script>", 15),
        ("<!--><script></script>", 13),
        ("<!---><script></script>", 14),
        ("<!--<script></script>--></script>", 24),
        ("<script></script>", 8),
    ],
)
def test_scripts_end_like_in_browsers(script, length):
    assert ScriptEnd().find(script, 0) == (length, True)


def test_little_is_buffered_of_an_unclosed_script():
    assert ScriptEnd().find("a < b </scr", 0) == (2, False)
    assert ScriptEnd().find("a < b and then much more", 0) == (24, False)
