"""What tests share: tiny models, runs made up for the purpose, slow and obvious ways to the same answers."""
