"""What the field knows of URLs: parsing as browsers do, hash_url, SURT keys. Pure functions."""
