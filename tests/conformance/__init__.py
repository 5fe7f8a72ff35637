"""Runners over the recorded behaviour of the upstream programs. `make conformance` runs them.

One module per area. A module has
  FILES    a runner per case file (path below the area's folder): `run(data) -> Iterable[CaseResult]`
  PENDING  files that wait for a part that is not built yet, with what they wait for
  GOALS    least shares of identical error texts and costs, where an issue names them
Rules (deliberate differences) are named after their heading in docs/differences.md.
"""
