"""The search language: words, "phrases", -exclusions, OR, prefix*; text in, a tree out.

Pure functions. Whatever a person types is a query: nothing here raises, and nothing it gives out
can be anything but a search expression.
"""
