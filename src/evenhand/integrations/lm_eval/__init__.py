"""evenhand and lm-evaluation-harness: a backend for masked language models, and our datasets as tasks.

`backend` is `--model evenhand`; `tasks` writes a dataset as a task; the functions of the task are in `exported`.
"""
