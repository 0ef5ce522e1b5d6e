"""Datasets that others released, under their own licences: fetched or put under EVENHAND_DATA, never shipped."""
