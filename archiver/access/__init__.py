"""Who may come in, on disk: one small file that only its owner may read, beside the archive.

It is no part of the archive: a rebuilt index has the same password, and an export has none.
"""
