"""Runs as people see them: terminal tables, charts, the HTML page."""
