"""Import scores and texts that were made elsewhere: read files, match rows with items, and write a run."""
