"""The use cases, in a person's words. Web, API and command line call these and nothing below."""
