"""Embeddings between dialects. ONE MODULE OF `languages/` = THE LANGUAGES OF A VENDOR, found by its
place.

Each reads requests and answers into the neutral form and writes them from it. Read `language.py`
first, then `translation.py`.
"""
