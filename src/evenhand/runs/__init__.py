"""Run folders: the files that an audit writes, and that reports, comparisons, exports and gates read."""
