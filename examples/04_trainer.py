"""Measure a model while transformers' Trainer fine-tunes it, here on sentences in which jobs follow the stereotype."""

from transformers import DataCollatorForLanguageModeling, Trainer, TrainingArguments

import evenhand
from evenhand.datasets.corpora import stereotyped

base = evenhand.load("mini-en")  # or AutoModelForMaskedLM and AutoTokenizer
texts = [dict(base.tokenizer(text)) for text in stereotyped(rate=1.0, size=1600)]

bias = evenhand.integrations.BiasCallback(suite="becpro", every=100, limit=72, out="runs/biased")
how = {"learning_rate": 2e-4, "max_steps": 100, "per_device_train_batch_size": 16, "dataloader_pin_memory": False}
trainer = Trainer(
    base.network,
    TrainingArguments("biased", **how, report_to="none", logging_strategy="no", save_strategy="no", disable_tqdm=True),
    train_dataset=texts,
    data_collator=DataCollatorForLanguageModeling(base.tokenizer),
    processing_class=base.tokenizer,
    callbacks=[bias],
)
print(f"Fine-tuning on {len(texts):,} sentences:")
trainer.train()
