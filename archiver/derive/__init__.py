"""The work on pages and files of links, in processes of its own: what is hostile costs a process.

``pool`` is the side of the service, ``worker`` that of a child, ``messages`` what goes between;
``link_file`` and ``link_file_worker`` are the same for files of links.
"""
