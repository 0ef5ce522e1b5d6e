"""Users' files of templates: sentences with target and attribute, and with a blank."""

TEMPLATES = """name = "mine"
language = "en"
templates = ["{target} likes {attribute}."]
[targets]
female = ["she"]
male = ["he"]
[attributes]
sports = ["tennis", "golf", "chess", "rugby", "judo", "polo", "darts", "yoga"]
"""
BLANKS = """name = "jobs"
language = "en"
[[category]]
name = "jobs"
templates = ["{he} is a {profession}."]
professions = ["nurse", "mason", "pilot", "judge"]
"""
