"""The `muster` command: commands, output formats, exit codes. Nothing is decided here."""
