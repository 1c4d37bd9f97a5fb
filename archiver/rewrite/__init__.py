"""Leads whatever a page points with into the archive, and leaves every other byte as it was.

Pure: text and header values come in and go out; nothing here knows a disk, a clock or a network.
Nothing raises on garbage, takes more than linear time, or holds more than a bounded part of it.

The rewriter is the first wall; the sandboxing Content-Security-Policy that a replay is served
under is the second. What reads markup as a browser's tree builder would, and not as its tokenizer,
belongs to the second.
"""
