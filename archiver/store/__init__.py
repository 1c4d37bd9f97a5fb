"""The content store: WARC segments on disk. Functions here block; callers use threads."""
