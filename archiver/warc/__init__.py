"""WARC, ARC and WACZ files: records, segments and their storage."""
