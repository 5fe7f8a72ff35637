"""Role-based access control over real Role, ClusterRole, RoleBinding and ClusterRoleBinding objects.

`muster.access` says what roles and bindings mean. Here are `authorizer.py` (the decisions of the hub), `escalation.py`
(who may change roles), `aggregation.py` (roles made of others), `bootstrap.py` (what every hub starts with).
"""
