"""Command line: reads flags, calls one service, prints.

``main`` declares every command and imports nothing heavy. The body of a command is a module of its
own that is imported when the command runs. Standard output has the result, one record a line or
JSON; progress, logs and errors go to standard error.
"""
