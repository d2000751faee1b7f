"""Records that outlive the gateway: tokens and usage, in SQLite or PostgreSQL."""
