"""The command line: one function for each command. Arguments, one call, print."""
