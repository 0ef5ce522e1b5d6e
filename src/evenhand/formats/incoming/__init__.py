"""Readers of other tools' results: per-item scores that somebody else computed."""
