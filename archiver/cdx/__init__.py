"""The CDX server API: questions about captures, and rows that answer them. Pure.

``query`` reads a question, ``rows`` makes fields of captures, filters, collapses and writes them.
"""
