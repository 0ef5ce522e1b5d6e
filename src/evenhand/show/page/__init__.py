"""Pages in HTML: of runs, of a training, of corpora."""
