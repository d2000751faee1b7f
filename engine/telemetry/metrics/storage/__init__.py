"""The numbers of all workers, in files that they share: `folder` (who writes which file), `cells`
(writing) and `page` (reading). Read `cells.py` first.
"""
