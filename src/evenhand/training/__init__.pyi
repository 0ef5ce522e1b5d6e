from evenhand.training.mlm import RECIPES as RECIPES
from evenhand.training.mlm import Recipe as Recipe
from evenhand.training.mlm import finetune as finetune
from evenhand.training.nli import NLI_RECIPE as NLI_RECIPE
from evenhand.training.nli import finetune_nli as finetune_nli
from evenhand.training.recipes import recipe_of as recipe_of
from evenhand.training.recipes import train_masked as train_masked
from evenhand.training.replicates import COMBINED as COMBINED
from evenhand.training.replicates import replicate_changes as replicate_changes
from evenhand.training.replicates import replicate_means as replicate_means

def processes() -> int: ...
def is_worker_rank() -> bool: ...
