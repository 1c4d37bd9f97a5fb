"""Bookmark lists in, entries out: what the field's files look like, as pure functions.

An importer is one module and one line in ``importers.IMPORTERS``. It reads a byte stream once, in
constant memory and linear time, gives bookmarks back in the order of the file, and never judges a
URL: what can't be captured is handed on as it stands, so that whoever keeps count can say so.

Nothing here opens a file, asks for the time or touches the network.
"""
