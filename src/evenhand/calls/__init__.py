"""What users call: it measures, and has the run read."""
