"""A matrix of clients times verbs against a running hub: `make clients`. In every cell a client does one thing.

`matrix` has the verbs and how a cell is judged, `stage` the hub, and each other module one family of clients. A client
that cannot be had on this machine is left out with the words why; a cell that fails fails the run.
"""
