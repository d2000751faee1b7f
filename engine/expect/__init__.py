"""Cases that a config is held against: a request, and what is expected to become of it."""
