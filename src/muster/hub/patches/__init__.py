"""Patches and field ownership: pure functions from objects to objects. Called by the API machinery; no I/O, no clock.

merge, json_patch and strategic change an object; apply merges a configuration into it; managed_fields keeps the record
of who set which field. structure, field_sets, comparison and typed_merge are what the last two stand on.
"""
