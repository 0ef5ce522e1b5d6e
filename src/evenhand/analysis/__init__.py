"""What the scores of a run say together: pairs, hypotheses, the workforce, agreement. Frames in, frames out."""
