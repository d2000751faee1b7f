"""The numbers of all workers, in files that they share: `folder` (the slots of workers), `cells`
(the files of one worker), `tables` (the numbers of a metric), `metric_file` and `page` (reading).
Read `cells.py` first.
"""
