"""ONE FILE = ONE KIND OF DIFFERENCE: a module with `differences(old, new)`, which no list names.
Read `authentication.py` first.
"""
