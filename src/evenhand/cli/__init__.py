"""The command line: one file for each command. Arguments, one call, print."""
