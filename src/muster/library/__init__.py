"""What `import muster` gives beside select and explain: files, plans, lint, labels of hosts, operators.

The same functions as behind the commands and controllers, with plain objects in and results out that print as tables
and show as tables in notebooks. No server is asked and nothing is written. `muster/__init__.py` names what there is;
commands use the parts below it (documents, planning, linting) for files.
"""
