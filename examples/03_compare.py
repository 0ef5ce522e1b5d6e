"""Compare two runs item by item, and judge the second by a policy. The first is of a model without any preference."""

from pathlib import Path

import evenhand

blank = evenhand.Table(lambda question: [-1.0], name="blank", fingerprint="blank")
before, after = (  # on a sample; without `limit` it is the whole dataset
    evenhand.audit(model, dataset="tgb", limit=18, out="runs/example") for model in (blank, evenhand.load())
)

compared = evenhand.compare(before, after)
print(compared.frame[["measure", "group", "before", "after", "change", "low", "high", "p_holm", "moved"]].to_string())

gate = evenhand.Gate.load(Path(__file__).with_name("policy.toml"))
verdict = gate.judge(after, baseline=before)
print(*verdict.lines(), sep="\n")
