"""Articles to take away: as one page that needs nothing else, and as a book (EPUB 3).

Pure: sanitised articles and the bytes of their pictures come in, files go out.
"""
