"""Interfaces, frozen data and the loop: measures ask, models answer. No torch."""
