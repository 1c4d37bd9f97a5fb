"""The crawl: from a lease on the queue to records on disk. Renders nothing, parses no bookmarks.

Stages are plain functions over a ``CrawlContext``; ``pipeline`` alone owns queues and tasks.
"""
