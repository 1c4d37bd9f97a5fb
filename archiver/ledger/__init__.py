"""Between records and rows, both ways: what happened becomes both, records become rows again."""
