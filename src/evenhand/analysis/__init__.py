"""Analyses over many scores: pairs, hypotheses, the workforce, agreement. Frames in, frames out."""
