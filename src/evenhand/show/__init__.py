"""The views of runs for people: terminal tables, charts, the HTML page, notebooks."""
