"""The image: a root file system from locked Debian packages, locked wheels, our wheel; an OCI layout without Docker."""
