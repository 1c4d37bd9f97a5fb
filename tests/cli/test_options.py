"""Flags, variables and defaults of settings, in this order of priority."""

import asyncio
import re
from ipaddress import ip_network

import click
import pytest
from click.testing import CliRunner

from archiver.cli.maintenance import run_migrate
from archiver.cli.options import (
    COMMON,
    CRAWLING,
    EVERYTHING,
    Command,
    build_settings,
    flag,
    with_settings,
)
from archiver.config import (
    SETTINGS,
    InvalidSettings,
    Settings,
    read_settings,
    unknown_variables,
    variable,
)
from archiver.errors import ConfigurationError


@click.command(cls=Command)
@click.option("--own", "option", help="Its own.")
@with_settings(EVERYTHING)
def probe(settings: Settings, option: str | None) -> int:
    click.echo(f"{settings.port} {settings.log_json} {settings.allow_networks} {option}")
    return 0


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in EVERYTHING:
        monkeypatch.delenv(variable(name), raising=False)


def output(*arguments: str) -> str:
    result = CliRunner().invoke(probe, arguments)
    return result.output.strip()


def test_flags_override_variables_and_variables_override_defaults(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert output().startswith("8080 ")
    monkeypatch.setenv("ARCHIVER_PORT", "81")
    assert output().startswith("81 ")
    assert output("--port", "82").startswith("82 ")


def test_a_list_setting_accepts_repeated_flags_or_commas() -> None:
    expected = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))

    for values in (("10.0.0.0/8", "fd00::/8"), ("10.0.0.0/8,fd00::/8",)):
        assert build_settings({"allow_networks": values}).allow_networks == expected


def test_a_size_is_a_number_of_bytes_or_has_a_decimal_or_binary_unit() -> None:
    kind = SETTINGS["max_body_bytes"].kind
    for text, size, shown in (
        ("1", 1, "1"),
        (1000, 1000, "1 kB"),
        ("100 MB", 100_000_000, "100 MB"),
        ("100mib", 100 << 20, "100 MiB"),
        ("1.5 GB", 1_500_000_000, "1500 MB"),
        ("2TiB", 2 << 40, "2 TiB"),
    ):
        assert (kind.read(text), kind.show(size)) == (size, shown)
        assert kind.read(shown) == size
    for text in ("", "0", "-1", "MB", "1 XB", "1e9", "1 2 MB", "9" * 400, "0.1", "\u0661 MB"):
        with pytest.raises(ValueError, match="must be"):
            kind.read(text)


def test_a_time_is_a_number_of_seconds_or_has_a_unit() -> None:
    kind = SETTINGS["feed_interval"].kind
    for text, seconds, shown in (
        (90, 90, "90 s"),
        ("60.25", 60.25, "60.25 s"),
        ("30 minutes", 1800, "30 min"),
        ("1.5h", 5400, "90 min"),
        ("2 Days", 172800, "2 d"),
    ):
        assert (kind.read(text), kind.show(seconds)) == (seconds, shown)
        assert kind.read(shown) == seconds
    in_days = SETTINGS["bin_days"].kind
    assert [in_days.read(each) for each in (30, "30", "2 days", "48 h")] == [30, 30, 2, 2]
    for text in (1.5, "12 h", "36501"):
        with pytest.raises(ValueError, match="must be"):
            in_days.read(text)
    for text in ("", "59", "-90", "min", "1 week", "1e9", "inf", "2 h 5 min", "9" * 400, True):
        with pytest.raises(ValueError, match="must be"):
            kind.read(text)


def test_every_setting_is_a_flag_with_a_description() -> None:
    help_text = " ".join(output("--help-settings").split())
    for name in EVERYTHING:
        described = SETTINGS[name].description
        assert described, name
        assert all(each in help_text for each in (flag(name), variable(name), described)), name


def test_settings_are_in_a_separate_help() -> None:
    command_help, settings = output("--help"), output("--help-settings")

    assert "--own" in command_help
    assert "--port" in settings
    assert "--port" not in command_help
    assert "--own" not in settings


def test_an_invalid_flag_is_a_usage_error_that_names_it():
    for arguments, named in (
        (["--port", "many"], "--port: must be a whole number"),
        (["--port", "70000"], "--port: must be at most 65535"),
        (["--allow-networks", "here"], "--allow-networks: "),
        (["--log-level", "loud"], "--log-level: must be one of debug, info, warning, error"),
        (["--concurrency", "0"], "--concurrency: must be at least 1"),
    ):
        result = CliRunner().invoke(probe, arguments)

        assert result.exit_code == 2, arguments
        assert named in result.output, arguments


def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCHIVER_PORT", "many")
    monkeypatch.setenv("ARCHIVER_RETRIES", "-1")

    result = CliRunner().invoke(probe)

    assert result.exit_code == 2
    assert "ARCHIVER_PORT: " in result.output
    assert "ARCHIVER_RETRIES: " in result.output


def test_a_password_is_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    result = CliRunner().invoke(probe, ["--password", "secret", "--port", "x"])

    assert "secret" not in result.output


def test_every_setting_belongs_to_a_command() -> None:
    assert set(COMMON) < set(CRAWLING) < set(EVERYTHING)
    assert set(EVERYTHING) == set(SETTINGS)


def test_the_delay_of_several_processes_is_limited():
    shares = {"ARCHIVER_CRAWL_PROCESSES": "2"}
    assert read_settings({"host_delay": 1800}, shares).host_delay == 1800
    with pytest.raises(InvalidSettings, match="host_delay"):
        read_settings({"host_delay": 1801}, shares)


def test_variables_that_no_setting_has_are_named_with_a_similar_one():
    variables = {"ARCHIVER_HOTS": "x", "ARCHIVER_ZZZZZZ": "y", "ARCHIVER_HOST": "::1", "PATH": "/"}

    assert unknown_variables(variables) == {"ARCHIVER_HOTS": "ARCHIVER_HOST", "ARCHIVER_ZZZZZZ": ""}


def test_a_mistyped_location_of_migrate_is_refused_with_its_name(tmp_path):
    settings = read_settings({"data": tmp_path}, {})

    for places in (
        ["postgres://h/x"],
        ["s3://"],
        ["s3://b@ucket/../x"],
        ["postgresql:///x?sslmode=bogus"],
        ["postgresql://me:secret@h/x"],
        ["postgresql://[::1/x"],
        ["postgresql://me@h:port/x"],
        ["s3://bucket", "s3://bucket"],
        [""],
        ["nonsense"],
    ):
        with pytest.raises(ConfigurationError, match=f"“.*{re.escape(places[0])}.*” is not a loc"):
            asyncio.run(run_migrate(settings, to=places, remove=False))
