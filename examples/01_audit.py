"""Audit the bundled model, and look at the result as data frames."""

import evenhand

run = evenhand.audit(suite="becpro", limit=300, out="runs/example")  # a sample; without `limit` it is the whole corpus
print(run.values[["prof_gender", "gender", "value", "low", "high", "n"]])
print(run.scores.sort_values("score")[["id", "profession", "person", "score"]].head())
