"""The index: SQLite over the WARC files. All SQL of the program lives in this room.

A function takes a connection first, so the caller owns the transaction, and gives model values
back. Whatever is here can be built again from the segments, but for the queue of seeds that no
attempt has been made for yet.
"""
