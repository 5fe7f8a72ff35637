"""What is installed on a server, whose it is, what it lacks, and which rules hold there: `muster kubernetes check`."""
