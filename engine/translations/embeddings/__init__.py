"""Embeddings between dialects. ONE MODULE OF `languages/` = ONE LANGUAGE, found by its place.

Each reads requests and answers into the neutral form (`neutral.py`) and writes them from it. Read
`language.py` first, then `translation.py`.
"""
