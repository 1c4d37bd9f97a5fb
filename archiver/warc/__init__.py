"""WARC 1.1 (ISO 28500) over file objects: records made, written, read and checked.

Nothing here opens a file: a caller hands over bytes or file objects and gets values.
"""
