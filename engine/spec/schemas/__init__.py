"""Schemas: their validators, what judging a value with one costs, and the words of a violation.
Read `compiled_schemas.py` first.
"""
