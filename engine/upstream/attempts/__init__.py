"""Attempts at targets: which is next, one of them, and two side by side. Read
`attempt.py` first.
"""
