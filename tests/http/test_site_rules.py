"""Rules of sites come from the settings file and apply to subdomains."""

import pytest

from archiver import helpers
from archiver.config import Settings, SiteRule
from archiver.errors import InputError
from archiver.http.politeness import Throttle
from archiver.http.site_rules import SiteRules, site_name

FILE = """
render = "never"
[sites."example.org"]
delay = 3
render = "always"
[sites."quiet.example.org"]
never_save = true
[sites."Bücher.Example."]
never_save = true
[sites."*"]
never_save = true
[sites."two words"]
never_save = true
"""


@pytest.mark.parametrize(
    ("host", "rule"),
    [
        ("example.org", SiteRule(render="always", delay=3.0)),
        ("www.example.org:8080", SiteRule(render="always", delay=3.0)),
        ("a.quiet.example.org", SiteRule(never_save=True)),
        ("quiet.example.org.:443", SiteRule(never_save=True)),
        ("www.xn--bcher-kva.example", SiteRule(never_save=True)),
        ("notexample.org", SiteRule()),
        ("org", SiteRule()),
        ("[::1]:80", SiteRule()),
    ],
)
def test_the_rule_of_the_closest_domain_applies(tmp_path, host, rule):
    (tmp_path / "settings.toml").write_text(FILE)

    assert SiteRules(tmp_path).of_host(host) == rule


def test_a_changed_file_applies_without_restart_and_an_invalid_one_is_ignored(
    tmp_path, monkeypatch
):
    rules, file = SiteRules(tmp_path), tmp_path / "settings.toml"
    monkeypatch.setattr(helpers, "FOLLOW_SECONDS", 0)
    polite = Throttle(Settings(host_delay=1, crawl_processes=2), rules=rules)

    delays = [polite.delay_of("example.org")]
    for text in (FILE, "[sites", "[sites.'example.org']\ndelay = -1", ""):
        file.write_text(text)
        delays.append(polite.delay_of("example.org"))

    assert delays == [1, 6, 6, 6, 1]


def test_a_rule_is_for_a_host_without_wildcards_ports_or_a_final_dot():
    for text, name in {
        "https://WWW.example.org:8080/x": "www.example.org",
        " example.org. ": "example.org",
        "bücher.example": "xn--bcher-kva.example",
        "[::1]:80": "::1",
        "0x7f.1": "127.0.0.1",
    }.items():
        assert site_name(text) == name
    for text in ("*", "*.example.org", ".", "%2e", "a b", "a\r\nX: y", "a.example@b.example", ""):
        with pytest.raises(InputError):
            site_name(text)
