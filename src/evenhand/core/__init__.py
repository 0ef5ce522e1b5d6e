"""The idea: measures ask, models answer, and one loop sits between. Contracts and frozen data; no torch."""
