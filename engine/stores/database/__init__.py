"""Records that outlive the gateway: tokens and usage, in SQLite or PostgreSQL. Read `schema.py`
first, then `database.py`.
"""
