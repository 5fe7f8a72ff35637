"""Role-based access control over real Role, ClusterRole, RoleBinding and ClusterRoleBinding objects.

Read `rules.py` (what a rule allows), `grants.py` (what a subject holds), `policy.py` (all roles and bindings, kept up
to date), `authorizer.py` (the decisions of the hub), `escalation.py` (who may change roles), `bootstrap.py` (what
every hub starts with). Everything but the authorizer is pure: `muster auth who-can` computes with the same functions.
"""
