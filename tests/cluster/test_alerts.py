"""Prometheus' own tool reads the alerts, and they say what they are to say."""

import subprocess
from pathlib import Path

PROMETHEUS = Path(__file__).parents[2] / "deploy/prometheus"


def test_the_alerts_speak_when_they_are_to_and_are_silent_otherwise():
    for command in ("check", "rules", "alerts.yaml"), ("test", "rules", "alerts.test.yaml"):
        done = subprocess.run(
            ["promtool", *command], cwd=PROMETHEUS, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
