"""Archives of others on their way in: their records become exchanges, entries and visits."""
