"""The text of an OpenAPI document: overlaid, repaired, checked and cached; `../load.py` reads it.
Read `node.py` first.
"""
