"""A module a page: read typed input, call one service, render."""
