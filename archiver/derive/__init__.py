"""The work on pages, in processes of its own: a hostile page may cost a process, never the service.

``pool`` is the side of the service, ``worker`` that of a child, ``messages`` what goes between.
"""
