"""Recorded outputs: what commands, the HTTP answer, conditions, events and histories say, to the byte.

`python -m tests.golden` writes the files anew; the test compares. A change of words is seen in review as a change of
these files.
"""
