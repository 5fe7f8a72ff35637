"""A real kube-apiserver in our tests: built from its published modules, started on loopback, stopped whatever happens.

`make kubernetes` builds what is missing and runs this folder. `binaries` finds or builds the programs, `server` starts
them, `homes` makes the hub and the server look alike to a test, `table` is the table of admission rules.
"""
