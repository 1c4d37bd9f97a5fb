"""A small web of two hosts and many types, made for the tests and served on loopback."""
