"""Showing runs to people."""
