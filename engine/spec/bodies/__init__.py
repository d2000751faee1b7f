"""Bodies of requests and responses: JSON, forms, parts and sequences, read, written and validated.
Read `request_bodies.py` first.
"""
