"""Crawling and recording: from leased jobs to records and rows."""
