"""Barza 2023, the Gender Bias Evaluation Framework: one module per study."""

from evenhand.studies.reproduce.barza2023 import corpora, curve, mt_gender, reminders, tables

PARTS = {
    "tables": tables.reproduce,
    "reminders": reminders.reproduce,
    "learning-curve": curve.reproduce,
    "mt-gender": mt_gender.reproduce,
    "corpora": corpora.reproduce,
}
