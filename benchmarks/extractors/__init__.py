"""Other extractors that ours is measured beside: in Python, and in Go, Rust and Node."""
