"""The control row: what a storage stands for, written in the same commit as its data."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dbt.adapters.sparkivm.changes import Pin

from ivm.compiler import CompiledView
from ivm.dialect import to_sql
from ivm.opaque import OpaqueView

FORMAT = 1


@dataclass(frozen=True)
class Control:
    """`text` is the row as it stands in storage: the commit compares with exactly this."""

    definition: str
    inputs: str
    sources: Mapping[str, Pin]
    answers: Mapping[str, Any]
    sizes: Mapping[str, int] = field(default_factory=dict)
    refreshes: int = 0
    rebuilt_for: str = ""
    text: str = ""

    def moved(self, sources: Mapping[str, Pin], answers: Mapping[str, Any]) -> Control:
        return replace(
            self, sources=sources, answers=answers, refreshes=self.refreshes + 1
        ).written()

    def written(self) -> Control:
        """With its text, which no other attempt has: it carries a token of its own."""
        value = {
            "format": FORMAT,
            "attempt": uuid.uuid4().hex,
            "definition": self.definition,
            "inputs": self.inputs,
            "sources": {name: pin.as_json() for name, pin in self.sources.items()},
            "sizes": dict(self.sizes),
            "refreshes": self.refreshes,
            "rebuilt_for": self.rebuilt_for,
            "answers": self.answers,
        }
        return replace(self, text=json.dumps(value, sort_keys=True, separators=(",", ":")))

    @classmethod
    def read(cls, text: str) -> Control | None:
        """None if it is of a format that this version does not know."""
        try:
            value = json.loads(text)
        except ValueError:
            return None
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            return None
        return cls(
            value["definition"],
            value["inputs"],
            {name: Pin.from_json(pin) for name, pin in value["sources"].items()},
            value["answers"],
            value["sizes"],
            int(value["refreshes"]),
            value["rebuilt_for"],
            text,
        )


def inputs_of(sql: str, settings: Mapping[str, str], options: Mapping[str, str]) -> str:
    """What can be compared without looking at the warehouse."""
    return digest([FORMAT, sql, sorted(settings.items()), sorted(options.items())])


def definition_of(inputs: str, view: CompiledView | OpaqueView) -> str:
    """What a storage means: two storages of one definition are interchangeable."""
    if isinstance(view, OpaqueView):
        return digest([inputs, view.columns])
    storage = view.storage
    return digest(
        [
            inputs,
            str(storage.core),
            [[c.name, c.type, c.source] for c in storage.columns],
            storage.unit,
            to_sql(view.facade()),
            [[t.name, repr(t.primary_key), repr(t.foreign_keys)] for t in view.tables],
        ]
    )


def digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
