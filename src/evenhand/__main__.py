"""`python -m evenhand`."""

from evenhand.cli.app import main

main()
