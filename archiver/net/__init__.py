"""The network: guarded addresses, one fetch at a time, politeness. Keeps nothing, parses no page."""
