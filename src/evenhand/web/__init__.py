"""The server: browse runs, compare two, probe a sentence, swap a text."""
