"""Swapping the gender of texts, document by document, with a log of every edit."""
