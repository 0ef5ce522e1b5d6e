"""Commands that have a file of their own: arguments, one call, print."""
