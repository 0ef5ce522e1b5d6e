"""Fine-tuning: one readable loop for each kind of model."""
