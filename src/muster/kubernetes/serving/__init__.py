"""What every replica serves on Kubernetes: webhooks, questions as an aggregated API, health and metrics.

Read `replica.py` (what runs), then `webhooks.py` and `questions_api.py`; `configurations.py` is what the API server has
to be told of them.
"""
