"""ONE FILE = ONE KIND OF DIFFERENCE: a module with `differences(old, new)`, found by its place.
Read `authentication.py` first.
"""
