"""Files for operators refer to existing metrics, commands and flags."""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from archiver.cli.main import cli
from archiver.web.metrics import Metrics

DEPLOY = Path(__file__).parents[1] / "deploy"
_METRIC = re.compile(r"\b(?:archiver|process)_\w+")


def expressions(name: str) -> list[str]:
    """Return every PromQL expression of the alerts or of the dashboard."""
    if name == "alerts":
        groups = yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text())["groups"]
        return [rule["expr"] for group in groups for rule in group["rules"]]
    panels = json.loads((DEPLOY / "grafana/archiver.json").read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


@pytest.mark.parametrize("name", ["alerts", "dashboard"])
def test_every_metric_in_use_exists(name):
    metrics = Metrics()
    metrics.count_response("GET", "page", 200, 0.1)
    existing = set(re.findall(r"^([a-z_]+)", metrics.page().decode(), re.MULTILINE))
    existing |= {"archiver_jobs", "archiver_queue_wait_seconds"}  # exist only once there are any

    used = {metric for each in expressions(name) for metric in _METRIC.findall(each)}

    assert len(used) > 5
    assert used <= existing


def test_every_alert_explains_what_to_do():
    groups = yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text())["groups"]

    for rule in (rule for group in groups for rule in group["rules"]):
        assert rule["annotations"].keys() == {"summary", "action"}, rule["alert"]
        assert rule["labels"]["severity"] in {"page", "ticket"}


def test_every_alert_has_a_test_case_in_which_it_fires():
    alerts, cases = (
        yaml.safe_load((DEPLOY / "prometheus" / name).read_text())
        for name in ("alerts.yaml", "alerts.test.yaml")
    )

    named = {rule["alert"] for group in alerts["groups"] for rule in group["rules"]}
    expected = [each for case in cases["tests"] for each in case["alert_rule_test"]]
    assert {each["alertname"] for each in expected if each.get("exp_alerts")} == named


@pytest.mark.parametrize("unit", sorted((DEPLOY / "systemd").iterdir()), ids=lambda each: each.name)
def test_units_start_existing_commands(unit):
    (start,) = re.findall(r"^ExecStart=(.+)$", unit.read_text(), re.MULTILINE)
    program, *arguments = shlex.split(start.replace("%i", "8080"))

    assert program.endswith("/.venv/bin/archiver")
    assert CliRunner().invoke(cli, [*arguments, "--help"]).exit_code == 0
