"""Tests of role-based access control."""
