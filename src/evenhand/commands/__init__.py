"""Commands of the command line, a file for what belongs together: arguments, one call, print."""
