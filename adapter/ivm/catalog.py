"""What is known about the tables that a model reads: frozen facts, each with its origin."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class PrimaryKey:
    columns: tuple[str, ...]
    origin: str


@dataclass(frozen=True)
class ForeignKey:
    columns: tuple[str, ...]
    to: str
    to_columns: tuple[str, ...]
    origin: str


@dataclass(frozen=True)
class Table:
    """A stored table. Names are canonical: lower case, `database.table`."""

    name: str
    columns: tuple[str, ...]
    primary_key: PrimaryKey | None = None
    foreign_keys: tuple[ForeignKey, ...] = ()

    def spelling(self, column: str) -> str:
        """The table's own spelling of a column (Spark resolves names without case)."""
        return next(name for name in self.columns if name.lower() == column.lower())


@dataclass(frozen=True)
class View:
    """A view between a model and its stored tables; `namespace` is where it was created.

    Spark picks what the text gives now by the names that it gave when the view was created
    (`picked`), and casts it to the `types` of then. Without these, columns are taken as they come.
    """

    name: str
    columns: tuple[str, ...]
    sql: str
    namespace: str
    settings: tuple[tuple[str, str], ...] = field(default=())
    picked: tuple[str, ...] = field(default=())
    types: tuple[str, ...] = field(default=())


class Catalog(Protocol):
    """Answers by name; raises `IvmError` for what does not exist."""

    def resolve(self, name: tuple[str, ...], namespace: str | None) -> Table | View: ...

    def describe(self, sql: str) -> tuple[tuple[str, str], ...]:
        """Column names and Spark types of a query, as the engine itself types it."""
        ...
