"""How gendered a text corpus is: by counts, and by what a model learns from it."""
