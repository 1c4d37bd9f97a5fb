"""Other extractors for comparison: in Python, Go, Rust and Node."""
