"""From what users write to what can match: labels, claims, CEL, identities, purposes, cluster-set membership."""

from muster.selectors.match import Match, Selector, Verdict

__all__ = ["Match", "Selector", "Verdict"]
