"""What pages hold: their requisites, metadata and article. Pure functions.

``document`` and ``text`` are light; ``article`` pulls heavy libraries in and is meant for processes
of its own (see ``derive``).
"""
