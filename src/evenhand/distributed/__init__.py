"""Everything that uses Ray: a cluster, a model on its workers, texts streamed through it."""
