"""`muco schema`: the JSON Schema of a policy."""

from __future__ import annotations

import json

import rich_click as click


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of a policy, for editors that complete and check TOML."""
    from muco.policy import Policy

    click.echo(json.dumps(Policy.model_json_schema(), indent=2))
