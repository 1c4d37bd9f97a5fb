"""Settings that users change: stored in the data directory, under what flags and variables say."""

import pytest

from archiver.config import InvalidSettings, SiteRule, Source, read_settings
from archiver.errors import InputError
from archiver.services.preferences import Preferences, reread


@pytest.fixture
def settings(tmp_path):
    return read_settings({"data": tmp_path, "port": "0"}, {"ARCHIVER_RETRIES": "3"})


async def test_a_stored_setting_applies_when_settings_are_read_again(settings):
    await Preferences(settings).change(
        {"render": "never", "trackers": "utm_*, fbclid", "bin_days": "7", "host_delay": "1.5"}
    )

    changed = reread(settings)

    assert (changed.render, changed.trackers) == ("never", ("utm_*", "fbclid"))
    assert (changed.bin_days, changed.host_delay, changed.retries) == (7, 1.5, 3)
    assert changed.source("render") is Source.FILE
    assert changed.source("retries") is Source.ENVIRONMENT
    assert changed.source("port") is Source.COMMAND_LINE
    assert changed.source("language") is Source.DEFAULT


async def test_a_change_is_pending_until_the_settings_are_read_again(settings):
    await Preferences(settings).change({"bin_days": "7"})  # as another process does

    for running, is_pending, used in ((settings, True, "30 d"), (reread(settings), False, "7 d")):
        assert await Preferences(running).change({"bin_days": "7"}) is is_pending
        result = (await Preferences(running).all())["bin_days"]
        assert (result.value, result.in_force) == ("7 d", used)


async def test_removing_a_setting_restores_its_default_and_keeps_comments(settings, tmp_path):
    (tmp_path / "settings.toml").write_text("# mine\nrender = 'never'\nbin_days = 3\n")

    await Preferences(settings).change({"render": None, "bin_days": "3"})

    assert (tmp_path / "settings.toml").read_text() == "# mine\nbin_days = 3\n"
    assert reread(settings).render == "auto"


async def test_an_invalid_or_fixed_setting_is_refused_and_nothing_is_stored(settings):
    for name, value in (
        ("bin_days", "-1"),
        ("render", "sometimes"),
        ("allow_networks", "home"),
        ("retries", "5"),  # the environment sets it
        ("password", "secret"),
        ("data", "/tmp"),
        ("colour", "green"),
    ):
        with pytest.raises(InputError):
            await Preferences(settings).change({"language": "de", name: value})

        assert reread(settings).language == "en", name


def test_a_file_that_can_not_be_used_is_named(tmp_path):
    for text in ("render = ", "colour = 'green'", "password = 'x'", "retries = -1"):
        (tmp_path / "settings.toml").write_text(text)

        with pytest.raises(InvalidSettings, match=r"settings\.toml"):
            read_settings({"data": tmp_path}, {})


async def test_rules_of_sites_are_stored_beside_the_settings_and_keep_each_other(
    settings, tmp_path
):
    preferences = Preferences(settings)
    (tmp_path / "settings.toml").write_text("# mine\nbin_days = 3\n")

    await preferences.set_site_rule("b.example", {"delay": "2.5", "never_save": "true"})
    await preferences.set_site_rule("a.example", {"render": "always", "user_agent": "Mine/1"})
    await preferences.set_site_rule("b.example", {"delay": "", "render": "never"})
    await preferences.change({"page_timeout": "60"})
    for wrong in ({"delay": "-1"}, {"render": "x"}, {"colour": "red"}, {"user_agent": "a\nb"}):
        with pytest.raises(InputError):
            await preferences.set_site_rule("b.example", wrong)

    assert await preferences.site_rules() == {
        "a.example": SiteRule(render="always", user_agent="Mine/1"),
        "b.example": SiteRule(render="never", never_save=True),
    }
    assert [await preferences.remove_site_rule("a.example") for _ in range(2)] == [True, False]
    assert await preferences.remove_site_rule("b.example")
    assert (reread(settings).bin_days, reread(settings).page_timeout) == (3, 60)
    assert await preferences.site_rules() == {}
