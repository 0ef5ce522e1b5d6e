"""Datasets under licences that are not ours: their files are fetched, or put under EVENHAND_DATA, never shipped."""
