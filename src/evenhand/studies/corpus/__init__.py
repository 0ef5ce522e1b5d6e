"""How gendered is a text corpus? By counting what is in it, and by what a model learns from it."""
