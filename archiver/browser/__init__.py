"""Chromium as an instrument of our crawl: found, started in a cell, driven, and ended for sure.

It has no way out but the gates that are given to its contexts (``net.gate``), and no way to go on
without us: ``supervisor`` ends whatever it started. Driven by the DevTools protocol over two pipes;
no port is opened. Nothing here fetches or keeps anything.
"""
