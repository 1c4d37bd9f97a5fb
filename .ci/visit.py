"""Starts an installed archiver, requests some pages, and stops it: ``visit.py PROGRAM DATA``."""

import re
import subprocess
import sys
from urllib.request import urlopen

program, data = sys.argv[1:]
with subprocess.Popen(
    [program, "serve", "--port", "0", "--data", data], stdout=subprocess.PIPE, text=True
) as server:
    try:
        base = re.search(r"http://\S+?(?=/?\s)", server.stdout.readline())[0]
        page = urlopen(f"{base}/", timeout=60).read().decode()
        style = re.search(r'href="(/static/[^"]+\.css)"', page)[1]
        for path in ("/healthz", "/snapshots", style):
            assert urlopen(base + path, timeout=60).status == 200, path
        server.terminate()
        server.wait(timeout=60)
    finally:
        server.kill()
