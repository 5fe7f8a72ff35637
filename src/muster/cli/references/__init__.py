"""The reference pages that are made from the code."""
