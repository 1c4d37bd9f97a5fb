"""Database: engine, schema and queries. Functions take a connection."""
