"""The warehouse as the compiler sees it: relations, their columns and keys, types of queries."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from dbt.adapters.sparkivm.keys import Keys
from sqlglot import exp

from ivm.catalog import Table, View
from ivm.dialect import to_sql
from ivm.errors import IvmError, Reason, Unsupported

Read = Callable[[str], list[dict[str, Any]]]
SCALARS = frozenset(
    """boolean tinyint smallint int bigint float double date timestamp timestamp_ntz string
    binary""".split()  # noqa: SIM905
)
FEED_ON = "delta.enablechangedatafeed=true"


class WarehouseCatalog:
    """Implements `ivm.catalog.Catalog` by asking Spark; remembers every answer.

    The answers go into the control row, so that the next refresh compiles without a statement.
    """

    def __init__(
        self, read: Read, keys: Keys, settings: Mapping[str, str], explicit: frozenset[str]
    ) -> None:
        self.read, self.keys, self.settings, self.explicit = read, keys, settings, explicit
        self.relations: dict[str, dict[str, Any]] = {}
        self.queries: dict[str, list[list[str]]] = {}

    def remember(self, answers: Mapping[str, Any]) -> None:
        self.relations = dict(answers["relations"])
        self.queries = dict(answers["queries"])

    def answers(self) -> dict[str, Any]:
        return {"relations": self.relations, "queries": self.queries}

    def resolve(self, name: tuple[str, ...], namespace: str | None) -> Table | View:
        parts = tuple(p.lower() for p in name)
        if len(parts) == 3 and parts[0] == "spark_catalog":
            parts = parts[1:]
        if len(parts) == 1:
            parts = (namespace or "default", *parts)
        if len(parts) > 2:
            raise Unsupported([Reason("table of another catalog", ".".join(name))])
        if any("." in p for p in parts):
            raise Unsupported([Reason("name with a dot", ".".join(name))])
        key = ".".join(parts)
        if key not in self.relations:
            self.relations[key] = self.look_at(key)
        return self._relation(key, self.relations[key])

    def describe(self, sql: str) -> tuple[tuple[str, str], ...]:
        key = hashlib.sha256(sql.encode()).hexdigest()[:16]
        if key not in self.queries:
            rows = self.read(f"DESCRIBE QUERY\n{sql}")
            self.queries[key] = [[r["col_name"], r["data_type"]] for r in rows]
        return tuple((name, type_) for name, type_ in self.queries[key])

    def _relation(self, name: str, facts: Mapping[str, Any]) -> Table | View:
        columns = tuple(facts["columns"])
        if facts["kind"] == "view":
            self._check_settings(name, facts["settings"])
            return View(
                name,
                columns,
                facts["text"],
                facts["namespace"],
                picked=tuple(facts.get("picked", ())),
                types=tuple(facts.get("types", ())),
            )
        if facts["format"] != "delta":
            raise Unsupported([Reason(f"source in format {facts['format']}, not delta", name)])
        if any("variant" in t for t in facts["types"]):
            raise Unsupported([Reason("source with a VARIANT column", name)])
        return Table(
            name,
            columns,
            self.keys.primary_key(name, columns),
            self.keys.foreign_keys(name, columns),
        )

    def _check_settings(self, name: str, created: Mapping[str, str]) -> None:
        for setting, here in self.settings.items():
            # What a view did not record has Spark's default in it, whatever this session says.
            there = created.get(setting)
            if there is None and setting not in self.explicit:
                continue
            if there != here:
                raise Unsupported(
                    [
                        Reason(
                            f"view created with {setting}={there or 'its default'} while this "
                            f"session has {here} (run the view again)",
                            name,
                        )
                    ]
                )

    def look_at(self, name: str, kind: str = "table") -> dict[str, Any]:
        """The facts about a relation as they are now: one statement if `kind` is right."""
        facts = self._look_at_view(name) if kind == "view" else self._look_at_table(name)
        if facts is None:
            facts = self._look_at_table(name) if kind == "view" else self._look_at_view(name)
        if facts is None:
            raise IvmError(f"{name} is neither a table nor a view that Spark can describe")
        return facts

    def _look_at_view(self, name: str) -> dict[str, Any] | None:
        # The settings under which a view was created stand in its JSON form only.
        try:
            rows = self._describe(name, " AS JSON")
        except Exception as error:
            if "NOT_SUPPORTED_COMMAND_FOR_V2_TABLE" in str(error):
                return None
            raise
        information = json.loads(next(iter(rows[0].values())))
        if information.get("type") != "VIEW":
            return None
        created = information.get("view_creation_spark_configuration") or {}
        # In this mode alone a view is what its text gives now.
        evolves = information.get("view_schema_mode") == "EVOLUTION"
        casts = information.get("view_schema_mode") in ("BINDING", "COMPENSATION")
        namespace = str(information.get("view_catalog_and_namespace", "")).rpartition(".")[2]
        return {
            "kind": "view",
            "columns": [c["name"] for c in information["columns"]],
            "text": str(information["view_text"]),
            "namespace": namespace.strip("`") or "default",
            "settings": {k: v for k, v in created.items() if k in self.settings},
            "picked": [] if evolves else information.get("view_query_output_columns") or [],
            "types": [simple_type(c["type"]) for c in information["columns"]] if casts else [],
        }

    def _look_at_table(self, name: str) -> dict[str, Any] | None:
        rows = [(str(r["col_name"]), str(r["data_type"])) for r in self._describe(name)]
        end = next((i for i, (c, _) in enumerate(rows) if not c or c.startswith("# ")), len(rows))
        details = dict(rows[end:])
        if details.get("Type") == "VIEW":
            return None
        return {
            "kind": "table",
            "columns": [c for c, _ in rows[:end]],
            "types": [t for _, t in rows[:end]],
            "format": details.get("Provider", "unknown").lower(),
            "feed": FEED_ON in details.get("Table Properties", "").lower(),
        }

    def _describe(self, name: str, form: str = "") -> list[dict[str, Any]]:
        try:
            return self.read(f"DESCRIBE TABLE EXTENDED {to_sql(table_of(name))}{form}")
        except Exception as error:
            if "TABLE_OR_VIEW_NOT_FOUND" in str(error) or "SCHEMA_NOT_FOUND" in str(error):
                raise IvmError(
                    f"{name} does not exist",
                    hint="build it first (dbt run, dbt seed), or correct the source's name",
                ) from error
            raise


def simple_type(described: Mapping[str, Any]) -> str:
    """A type of DESCRIBE ... AS JSON as DESCRIBE QUERY writes it; nested types are not compared.

    >>> simple_type({"name": "decimal", "precision": 10, "scale": 2})
    'decimal(10,2)'
    """
    name = str(described.get("name", ""))
    if name == "decimal":
        return f"decimal({described['precision']},{described['scale']})"
    renamed = {"timestamp_ltz": "timestamp", "integer": "int", "long": "bigint"}
    found = renamed.get(name, name)
    return found if found in SCALARS else ""


def table_of(name: str) -> exp.Table:
    database, _, table = name.rpartition(".")
    return exp.table_(table, db=database or None, quoted=True)


def without_feed(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What a relation means: whether it has a change feed is no part of that."""
    return {k: v for k, v in facts.items() if k != "feed"}


def types_of(facts: Mapping[str, Any]) -> dict[str, str]:
    columns = (str(c).lower() for c in facts.get("columns", ()))
    return dict(zip(columns, facts.get("types", ()), strict=False))
