"""Ours beside the peers, in one run, on the same inputs: `make bench`."""
