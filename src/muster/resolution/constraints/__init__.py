"""Requirements: every spelling, the normal form, and who meets it."""
