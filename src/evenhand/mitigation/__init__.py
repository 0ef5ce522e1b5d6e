"""Rewriting texts: the other gender, document by document. Functions that compose, and a trail of what they did."""
