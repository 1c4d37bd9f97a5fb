"""What pages hold: their text encoding, requisites, metadata and article. Pure functions.

``document``, ``text`` and ``encoding`` are light; ``article`` pulls heavy libraries in and is meant
for processes of its own (see ``derive``).
"""
