"""Table tests for CEL: expressions, and the rules of policies, definitions, webhooks and device classes.

`tables` reads what a test file says, `subjects` finds the expressions of a manifest and asks them as Kubernetes would,
`coverage` says which outcomes of which parts no case has brought about, `migrating` compares two versions of
Kubernetes. `muster cel test` and `muster cel migrate` print what comes of it.
"""
