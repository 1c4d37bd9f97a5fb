"""WACZ 1.1.1: what stands in a package beside its WARC file. Pure.

``cdxj`` writes the index, ``package`` the lists of pages and resources.
"""
