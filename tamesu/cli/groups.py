"""Groups of commands that answer an unknown name with the nearest one."""

from __future__ import annotations

import difflib

import click

_MOST_LETTERS_MORE = 2


class NamedCommands(click.Group):
    """A group in the order it was written, which says what was probably meant."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            ctx.fail(f"No such command '{name}'.{self._hint(ctx, name)}")
        return super().resolve_command(ctx, args)

    def _hint(self, ctx: click.Context, name: str) -> str:
        commands = {known: self.get_command(ctx, known) for known in self.list_commands(ctx)}
        shown = [known for known, command in commands.items() if command is not None and not command.hidden]
        near = difflib.get_close_matches(name, shown, n=2, cutoff=0.5)
        # a much shorter or longer one shares letters by chance
        meant = [one for one in near if one == near[0] or abs(len(one) - len(name)) <= _MOST_LETTERS_MORE]
        return f" Did you mean {' or '.join(meant)}?" if meant else ""


class OneOf(click.Choice[str]):
    """A choice of words that says which one was probably meant."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            near = difflib.get_close_matches(value, [str(choice) for choice in self.choices], n=1, cutoff=0.5)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise click.BadParameter(f"{error.message}{hint}", ctx=ctx, param=param) from None
