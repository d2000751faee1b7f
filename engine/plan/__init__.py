"""PLAN: config and documents to a Plan of Routes. Names are resolved here and nowhere else, and
every problem is reported at once. Read `make.py` first, then `route.py`.
"""
