"""Looking at managed clusters: how to get to one, and reading it within limits. One look, no memory, no writing.

`access` makes connections of what is kept on the hub, `plugins` starts the programs that may make credentials,
`reading` takes facts. What a cluster answers is the answer of a stranger: whatever it is, a look ends in time, with
facts or with a trouble that has a name. `importing` decides what it means, `controllers/syncing` and commands write it.
"""
