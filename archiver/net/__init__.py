"""The network: guarded addresses, single fetches, politeness. Keeps nothing, parses no page."""
