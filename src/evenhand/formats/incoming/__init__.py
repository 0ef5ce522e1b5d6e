"""Scores in other people's files, one file for each format: what each row says of an item, as yet unmatched."""
