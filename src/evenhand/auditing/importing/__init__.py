"""Scores that were computed elsewhere: reading files, matching rows with items, making a run of them."""
