"""From a name to a network that is ready to answer."""
