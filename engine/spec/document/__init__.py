"""The text of an OpenAPI document: loaded, overlaid, repaired, checked and cached.
Read `load.py` first.
"""
