"""Differences in effect between two configs, not in their text. Read `difference.py` first; one
kind of difference is one file in `kinds/`.
"""
