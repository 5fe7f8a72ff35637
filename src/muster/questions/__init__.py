"""Questions about the fleet: the kinds of `fleet.muster.dev`, the observer that answers them, and who may ask what.

`asked` is what travels between whoever serves a question (the hub) and the observer, `scopes` what of the fleet the
asker may be told, `observer` where the answers come from: in the controllers' process, from its live world.
"""
