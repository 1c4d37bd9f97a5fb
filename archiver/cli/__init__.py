"""Command line interface: each command parses flags, calls one service and prints."""
