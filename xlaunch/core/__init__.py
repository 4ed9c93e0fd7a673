"""Pure rules: no I/O, no clock of its own, no import of typer, rich, kubernetes, aiohttp or google libraries."""
