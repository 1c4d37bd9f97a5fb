"""Memento (RFC 7089): how the web says *this page, as it was then*.

Pure: timestamps and header values come in and go out; nothing here knows an archive, a clock or
a request.
"""
