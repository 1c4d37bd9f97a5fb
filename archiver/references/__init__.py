"""What a page or a style sheet points with, known once: where its references stand, what for.

Discovery (``html``: what to fetch) and rewriting (``rewrite``: where to lead it) both read the
tables of elements and relations, the reader of style sheets and those of ``srcset`` and refresh.
Pure text: nothing here resolves a URL.
"""
