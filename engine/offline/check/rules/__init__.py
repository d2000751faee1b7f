"""The rules of the audit: one file, one rule, one code. Read `../audit.py` first."""
