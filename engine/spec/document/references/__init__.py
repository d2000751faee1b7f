"""References of a document (`$ref`, `$dynamicRef`, `$id`): found, followed, and made absolute.
Read `absolute_references.py` first.
"""
