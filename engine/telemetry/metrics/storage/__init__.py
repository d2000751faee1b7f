"""The numbers of all workers, in files that they share: `folder` (the slots of workers), `cells`
(writing) and `page` (reading). Read `cells.py` first.
"""
