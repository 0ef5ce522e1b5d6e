"""Turn questions into batches, and the numbers of batches into answers. Does not import torch."""
