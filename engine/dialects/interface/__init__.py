"""The types that a dialect fills in, and code that several dialects share: no vendor's knowledge.
Read `dialect.py` first.
"""
