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
def test_a_script_ends_where_browsers_end_it(script, length):
    assert ScriptEnd().find(script, 0) == (length, True)


def test_a_script_that_does_not_end_is_held_back_as_little_as_can_be():
    assert ScriptEnd().find("a < b </scr", 0) == (2, False)
    assert ScriptEnd().find("a < b and then much more", 0) == (24, False)
