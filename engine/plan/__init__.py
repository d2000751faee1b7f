"""PLAN: config and documents to a Plan of Routes. Every name is resolved, and every problem is
found, here. Read `make.py` first.
"""
