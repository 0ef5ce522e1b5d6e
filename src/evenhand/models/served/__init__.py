"""Models behind a server that speaks OpenAI's protocol: what it can be asked is found out, not assumed."""
