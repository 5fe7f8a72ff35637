"""Synthetic fleets: realistic objects of every kind, any number of them, the same for the same seed.

`muster demo fleet`, `muster hub run --demo` and the benchmarks use it. Pure: it makes objects and writes nothing.
"""

from muster.demo.fleet import Fleet, fleet_objects

__all__ = ["Fleet", "fleet_objects"]
