"""Use cases: what users do with an archive."""
