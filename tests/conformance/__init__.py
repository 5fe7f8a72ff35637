"""Suites over the recorded behaviour of the upstream programs. `make conformance` runs them.

One module per area. A module has
  FILES    the suites per case file, by its path below the area's folder or by a pattern for such paths
  PENDING  files that wait for a part that is not built yet, with what they wait for
  GOALS    least shares of identical error texts and costs, where an issue names them
A suite (`suites.Suite`) names the cases of one shape, classifies each from itself alone, runs it and judges the
outcome; see docs/decisions/0197-cases-are-classified-before-they-run.md. Rules (deliberate differences) are named
after their heading in docs/differences.md and say the whole outcome that is wanted.
"""
