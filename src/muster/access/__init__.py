"""Who may do what, by roles and bindings: rules, what a subject holds, who can, and what that means for cluster sets.

Read `rules.py` (what a rule allows), `grants.py` (what a subject holds), `policy.py` (all roles and bindings, kept up
to date), `set_access.py` (who may join a set, what moving a cluster takes). Pure: the hub's authorizer feeds it from
its store, `muster auth who-can` and the local observer from lists.
"""
