"""Tests of the checks on writes."""
