"""Run folders: what an audit leaves on disk, and everything after it reads."""
