"""``/api/v1``: the same as the pages, as JSON. ``openapi`` describes it."""
