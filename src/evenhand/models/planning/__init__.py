"""From questions to batches, and from the batches' numbers back to answers. No torch."""
