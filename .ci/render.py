"""Saves a page that is empty without scripts with an installed archiver: ``render.py PROGRAM``.

Like the Docker image, it uses the system's Chromium with its sandbox. As root, it runs the program
as a user without rights or home, if that user can execute this Python.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

USER_WITHOUT_RIGHTS = 10001
SHELL = b"""<!DOCTYPE html><title>Shell</title><div id="root"></div>
<script>root.innerHTML = '<p>This was brought by a script. </p>'.repeat(20)</script>"""


class Site(BaseHTTPRequestHandler):
    """One page."""

    def do_GET(self) -> None:
        """Send the page."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(SHELL)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def run(*words: str) -> str:
    """Return the output of a command, which must succeed."""
    variables = {"PATH": os.environ["PATH"], "HOME": data, "ARCHIVER_DATA": data}
    completed = subprocess.run(
        [program, *words],
        env=variables | {"ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8"},
        cwd=data,
        capture_output=True,
        text=True,
        check=False,
        user=user,
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed.stdout


program = str(Path(sys.argv[1]).absolute())
is_reachable = all(each.stat().st_mode & 1 for each in Path(sys.executable).resolve().parents)
user = USER_WITHOUT_RIGHTS if os.geteuid() == 0 and is_reachable else None
with HTTPServer(("127.0.0.1", 0), Site) as site, tempfile.TemporaryDirectory() as data:
    threading.Thread(target=site.serve_forever, daemon=True).start()
    if user:
        os.chown(data, user, -1)
    url = f"http://127.0.0.1:{site.server_port}/"
    run("add", url)
    shown = json.loads(run("show", "--json", url))
    assert shown["rendering"] == "done", shown
    assert "brought by a script" in json.dumps(shown), shown
    run("verify")
    site.shutdown()
sys.stdout.write(f"A browser showed a page, as user {user or os.geteuid()}.\n")
