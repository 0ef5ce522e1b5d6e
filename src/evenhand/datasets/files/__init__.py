"""Users' files, and released corpora that are downloaded."""
