"""evenhand inside other tools. Each file imports its host when it is used; `core/extras` names the extra to install."""
