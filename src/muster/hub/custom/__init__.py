"""Custom kinds: from a CustomResourceDefinition that somebody applies to a kind that the hub serves.

Read `definition.py` (what a definition may say), `kinds.py` (from a definition to a Resource), `live.py` (which kinds
there are now) and `lifecycle.py` (how one comes and goes). `structural`, `openapi_schema`, `defaults` and `rules` judge
schemas and the CEL in them; `objects`, `values` and `rule_checks` judge the objects of a kind.
"""
