"""The numbers of all workers, in files that they share: `folder` (the slots of workers),
`worker_numbers` (the files of one worker), `tables` (the numbers of a metric), `metric_file` and
`page` (reading).
Read `worker_numbers.py` first.
"""
