"""Imported clusters are kept true: looked at again and again, their status and lease written as they are found."""
