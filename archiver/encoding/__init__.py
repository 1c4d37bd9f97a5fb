"""Which encoding text is in, and how it is read: one answer for all rooms (WHATWG Encoding).

``choose_encoding`` decides as browsers do; ``decode`` and ``decoder`` read as browsers do. Nothing
else in this program looks at a charset, and no name that only Python knows gets in.
"""
