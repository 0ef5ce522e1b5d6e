"""evenhand and lm-evaluation-harness: a backend for masked language models, and our datasets as tasks.

`backend` is `--model evenhand`; `tasks` writes a dataset as a task, whose functions are those of a file in `exported`.
"""
