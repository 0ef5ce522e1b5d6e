"""Barza 2023, the Gender Bias Evaluation Framework: what models are like, and what they learn."""

from evenhand.papers.barza2023 import tables, training

PARTS = {
    "tables": tables.reproduce,
    "reminders": training.reminders,
    "learning-curve": training.learning_curve,
    "mt-gender": training.mt_gender,
    "corpora": training.corpora,
}
