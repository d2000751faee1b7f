"""Objects that upstreams keep (files, batches, stored responses), and whose they are. Their ids are
sealed with owner and target in responses and opened in requests; lists show a caller its own.
Sending requests belongs to `upstream/` (`objects/` there). Read `sealed_ids.py` first.
"""
