"""Imports go down the layers only, and torch stays where models are."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import evenhand

SOURCE = Path(evenhand.__file__).parent
LAYERS = [  # low to high; a module may import from lower rows only
    {"errors", "launched"},
    {"questions", "cluster", "models.crew", "models.collecting", "streaming"},
    {"words"},
    {"items", "intervals", "terminal", "models.examining"},
    {"strata", "significance", "relations"},
    {"result", "models.batching"},
    {"models.base", "models.pieces", "models.pacing", "folder"},
    {"datasets.templates", "datasets.rows", "datasets.fetch", "datasets.segmenting"},
    {"datasets.balanced", "datasets.base", "measures.base", "models.table", "models.names"},
    {"mitigation.pronouns", "mitigation.titles"},
    {
        "models.japanese",
        "models.branching",
        "models.continuing",
        "models.masking",
        "models.picking",
        "models.network",
        "models.labels",
        "datasets.texts",
        "datasets.gendered",
    },
    {"datasets.faults", "datasets.blanks", "datasets.nli", "datasets.nli_examples", "mitigation.swap"},
    {"datasets.leaks", "datasets.controlled", "models.language"},
    {"mitigation.names", "mitigation.gap", "mitigation.substitute"},
    {"mitigation.corpora"},
    {"mitigation"},
    {
        "datasets.becpro",
        "datasets.eec",
        "datasets.nli_coal",
        "datasets.pairs",
        "datasets.templated",
        "measures.association",
        "measures.likelihood",
        "measures.nli",
        "measures.pronoun",
        "models.remembering",
        "models.causal",
        "models.masked",
        "models.nli",
        "models.room",
        "models.checkpoint",
    },
    {"datasets.stereotyped", "models.loading_causal", "models.loading_masked", "models.loading_nli"},
    {"models.loading_adapter"},
    {"datasets", "measures", "models.loading"},
    {"models", "run", "fitness", "datasets.plain"},
    {"checks.base"},
    {"checks.fitting", "checks.knowing", "checks.steadiness", "checks.tokenizing"},
    {"checks"},
    {"training.batches", "training.gelu", "training.saving", "models.released", "models.spread"},
    {"training.loop"},
    {"training.mlm", "training.nli"},
    {"training"},
    {"suites", "linting", "precision", "textfiles"},
    {"doctoring"},
    {"swapping"},
    {"analysis.alike", "analysis.twice"},
    {"analysis.distribution", "analysis.draws", "analysis.paired", "analysis.samples", "analysis.side_by_side"},
    {"analysis.hypotheses", "analysis.workforce", "analysis.agreement", "analysis.equalising"},
    {"analysis.findings", "analysis.followed"},
    {"analysis.change"},
    {"analysis"},
    {"comparing", "evidence", "verdicts"},
    {"policy"},
    {"gating"},
    {"report.cells", "report.markdown", "report.plots"},
    {"report.tables"},
    {"report.scorecard"},
    {"report.comparison", "report.figures", "report.gate"},
    {"report.page.numbers", "report.page.readings", "report.page.drawings", "report.page.record"},
    {"report.page.verdicts", "report.page.strips", "report.page.trust", "report.page.items", "report.page.moves"},
    {"report.page.charts", "report.page.measured", "report.page.changed", "report.page.provenance"},
    {"report.page.pictures", "report.page.summary"},
    {"report.page"},
    {"report", "auditing"},
    {"formats.escaping", "formats.facts", "formats.references"},
    {
        "formats.bibtex",
        "formats.eval_results",
        "formats.every_eval_ever",
        "formats.latex",
        "formats.model_card",
        "formats.tables",
    },
    {"formats"},
    {"sweeping", "teaching", "testing"},
    {"corpus.counting", "corpus.learning", "debiasing", "meta.dial"},
    {"meta.inference", "meta.masked"},
    {"meta"},
    {"corpus", "reproducing.base"},
    {"reproducing.barza2023.cells"},
    {
        "reproducing.anantaprayoon2024",
        "reproducing.bartl2020",
        *(f"reproducing.barza2023.{part}" for part in ("corpora", "curve", "mt_gender", "reminders", "tables")),
    },
    {"reproducing.barza2023"},
    {"reproducing"},
    {"web.rendering", "web.listing", "web.probing", "web.marking", "web.showing"},
    {"web.guarding"},
    {"web.app"},
    {"web.serving"},
    {"web"},
    {"commands.common", "commands.verdicts"},
    {
        "commands.audit",
        "commands.compare",
        "commands.datasets",
        "commands.export",
        "commands.gate",
        "commands.doctor",
        "commands.metaeval",
        "commands.nli",
        "commands.serve",
        "commands.report",
        "commands.studies",
        "commands.texts",
    },
    {"commands"},
    {"cli"},
    {"__main__"},
]
RANK = {module: rank for rank, layer in enumerate(LAYERS) for module in layer}
MAY_IMPORT_TORCH = {
    "formats.eval_results",  # for the Hub's own classes
    "models.causal",
    "models.japanese",
    "models.checkpoint",
    "models.examining",
    "models.loading_adapter",
    "models.loading_causal",
    "models.loading_masked",
    "models.loading_nli",
    "models.language",
    "models.masked",
    "models.network",
    "models.nli",
    "models.picking",
    "models.room",
    "cluster",
    "models.spread",
    "streaming",
    "training.batches",
    "training.gelu",
    "training.loop",
    "training.mlm",
    "training.nli",
    "training.saving",
}
HEAVY = {"torch", "transformers", "tokenizers", "safetensors", "huggingface_hub", "accelerate", "peft", "ray"}
REPORT_MAY_NOT_SEE = {"models", "measures", "run", "suites", "datasets", "auditing"}


@cache
def modules() -> dict[str, ast.Module]:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:  # the package itself lists everything, lazily
            found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imported(tree: ast.Module) -> set[str]:
    """Every module imported anywhere in the file, functions included, type-checking blocks excluded."""
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    names = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def own(name: str) -> str | None:
    """The module of ours that an imported name belongs to."""
    if not name.startswith("evenhand."):
        return None
    parts = name.removeprefix("evenhand.").split(".")
    while parts and ".".join(parts) not in RANK:
        parts.pop()
    return ".".join(parts) or None


def test_every_module_has_its_layer() -> None:
    assert set(modules()) == set(RANK)


@pytest.mark.parametrize("module", sorted(RANK))
def test_imports_go_down_only(module: str) -> None:
    for name in imported(modules()[module]):
        below = own(name)
        if below is not None and below != module:
            assert RANK[below] < RANK[module], f"{module} may not import {below}"


@pytest.mark.parametrize("module", sorted(set(RANK) - MAY_IMPORT_TORCH))
def test_torch_stays_where_models_are(module: str) -> None:
    assert not {name.split(".")[0] for name in imported(modules()[module])} & HEAVY


def test_the_report_reads_runs_and_nothing_behind_them() -> None:
    for module in RANK:
        if module.startswith(("report", "formats")):
            below = {own(name) or "" for name in imported(modules()[module])}
            assert not {name.split(".")[0] for name in below} & REPORT_MAY_NOT_SEE


@pytest.mark.parametrize("code", ["import evenhand", "import evenhand.cli", "from evenhand.models.names import find"])
def test_light_imports_load_nothing_heavy(code: str) -> None:
    heavy = HEAVY | {"pandas", "scipy"}
    check = f"{code}; import sys; loaded = set(sys.modules) & {heavy!r}; sys.exit(str(loaded) if loaded else 0)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
