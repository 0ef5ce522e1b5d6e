"""Judge runs by a policy: its rules, the evidence, and the verdict."""
