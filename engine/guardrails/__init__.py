"""Texts of requests and answers, judged by a service of the operator: the policy `guard`. What is
asked and answered is `contract.py`; which texts a body has, `texts.py`. Read `guard.py` first.
"""
