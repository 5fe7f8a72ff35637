"""The fast back end: a plan becomes one Python function.

`generate` is called by program.py. Generated code is written from fixed pieces; constants, field names and functions
are handed to it as data. The tests hold its values, errors and costs against the interpreter's.
"""

from muster.cel.generating.generator import functions_of, generate, source_of

__all__ = ["functions_of", "generate", "source_of"]
