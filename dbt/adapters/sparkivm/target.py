"""Where a model lives: the facade as it stands, the storages behind it, its descriptions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.sparkivm.state import digest
from sqlglot import exp

from ivm import names

# Properties of a facade, as SHOW TABLE EXTENDED lists them.
STORAGE, DOCS, SIZE = "ivm.storage", "ivm.docs", "ivm.bytes"
BYTES = re.compile(rf"{re.escape(SIZE)}=(\d+)")


@dataclass(frozen=True)
class Docs:
    """Descriptions that `persist_docs` asks for. A view takes them only when it is created."""

    relation: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, model: Mapping[str, Any]) -> Docs:
        wanted = model["config"].get("persist_docs") or {}
        described = {
            str(c["name"]).lower(): str(c.get("description") or "")
            for c in (model.get("columns") or {}).values()
        }
        return cls(
            str(model.get("description") or "") if wanted.get("relation") else "",
            {n: d for n, d in described.items() if d} if wanted.get("columns") else {},
        )

    @property
    def mark(self) -> str:
        return digest([self.relation, dict(self.columns)])


@dataclass(frozen=True)
class Target:
    """Where the model lives. `storages` are the tables behind it that exist."""

    schema: str
    identifier: str
    storages: tuple[str, ...]
    facade: str  # "view", "table" or "" if it does not exist
    facade_text: str

    @property
    def slots(self) -> tuple[str, str]:
        return names.storage_names(self.identifier)

    @property
    def name(self) -> exp.Table:
        return exp.table_(self.identifier, db=self.schema, quoted=True)

    @property
    def bytes(self) -> int | None:
        """Of its storage, when it was built; None if nobody wrote it down."""
        found = BYTES.search(self.facade_text)
        return int(found[1]) if found else None

    def storage(self, slot: str) -> exp.Table:
        return exp.table_(slot, db=self.schema, quoted=True)

    def shows(self, slot: str) -> bool:
        return f"`{slot}`" in self.facade_text
