"""A storage built anew, and the facade over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbt.adapters.sparkivm.catalog import table_of
from dbt.adapters.sparkivm.changes import Pin
from dbt.adapters.sparkivm.report import Outcome
from dbt.adapters.sparkivm.state import Control, definition_of
from dbt.adapters.sparkivm.target import DOCS, SIZE, STORAGE
from sqlglot import exp

from ivm.compiler import CompiledView
from ivm.dialect import to_sql
from ivm.errors import IvmError, Unsupported
from ivm.opaque import OpaqueView, opaque_view
from ivm.render import Binding, build_storage, facade_view, statement
from ivm.render.delta_lake import Unchanged

if TYPE_CHECKING:
    from dbt.adapters.sparkivm.refresh import Refresh

# Without them a scattered change rewrites whole files.
STORAGE_PROPERTIES = {"delta.enableDeletionVectors": "true"}
# Rows of a view that others are stacked on are read by its feed; nobody else pays for writing it.
FEED_PROPERTIES = {"delta.enableChangeDataFeed": "true"}
# Files that a change of recent rows rewrites or looks through, in the order of the sources.
FILE_ROWS = ("spark.sql.files.maxRecordsPerFile", 2_000_000)


def rebuild(
    run: Refresh, why: str, *, same: str | None = None, control: Control | None = None
) -> Outcome:
    """Into the same table if it means the same, else beside it: readers see old or new."""
    if not run.may_rebuild and same is not None:
        raise IvmError(
            f"model {run.model} would have to be rebuilt: {why}",
            hint="full_refresh: false forbids it; remove that from the model's configuration",
        )
    run.outcome = Outcome(
        strategy="full rebuild", reason=why, prediction=run.outcome.prediction
    )
    run.catalog.remember({"relations": {}, "queries": {}})
    view: CompiledView | OpaqueView
    sources: dict[str, Unchanged] = {}
    pins: dict[str, Pin] = {}
    unsupported = ""
    try:
        view = run.compiled()
        for table in view.tables:
            pin = run.history(table.name, 1).pin
            pins[table.name] = pin
            sources[table.name] = Unchanged(table_of(table.name), pin.version)
    except Unsupported as error:
        if run.config.on_unsupported == "error":
            raise IvmError(
                f"model {run.model} cannot be maintained incrementally",
                detail=str(error),
                hint="rewrite it, or allow rebuilds with on_unsupported: rebuild",
            ) from error
        unsupported = f"not maintained: {error}"
        run.outcome.reason = unsupported
        view = opaque_view(run.sql, run.catalog.describe(run.sql))
    definition = definition_of(run.inputs, view)
    slot = _slot(run, same, control, definition)
    fresh = Control(
        definition,
        run.inputs,
        pins,
        run.catalog.answers(),
        _sizes(run, view),
        0,
        unsupported,
    ).written()
    storage = run.target.storage(slot)
    binding = Binding(storage, sources)
    if isinstance(view, CompiledView):
        run.check_keys(view, pins)
        query = statement(view.build(fresh.text), binding)
    else:
        query = view.build(fresh.text)
    properties = STORAGE_PROPERTIES | (FEED_PROPERTIES if run.stacked_on else {})
    setting, rows = FILE_ROWS
    run.executor.write("file size", f"SET {setting}={rows}")
    run.executor.write("build the storage", build_storage(query, binding, properties))
    run.executor.write("file size", f"RESET {setting}")
    if run.target.facade == "table":
        run.drop_table()
    _create_facade(run, slot, view)
    drop_others(run, slot)
    return run.outcome


def drop_others(run: Refresh, slot: str) -> None:
    """The storage of an earlier definition, once no facade shows it any more."""
    for other in run.target.storages:
        if other != slot:
            run.quietly(
                "drop the old storage",
                f"DROP TABLE IF EXISTS {to_sql(run.target.storage(other))}",
            )


def _slot(run: Refresh, same: str | None, control: Control | None, definition: str) -> str:
    if same is not None and control is not None and control.definition == definition:
        return same
    shown = [s for s in run.target.storages if run.target.shows(s)]
    return next(s for s in run.target.slots if s not in shown)


def _sizes(run: Refresh, view: CompiledView | OpaqueView) -> dict[str, int]:
    if not isinstance(view, CompiledView):
        return {}
    return {t.name: _bytes(run, table_of(t.name)) for t in view.tables}


def _bytes(run: Refresh, table: exp.Table) -> int:
    name = to_sql(table)
    row = run.executor.read(f"size of {table.name}", f"DESCRIBE DETAIL {name}")[0]
    return int(row["sizeInBytes"] or 0)


def _create_facade(run: Refresh, slot: str, view: CompiledView | OpaqueView) -> None:
    storage = run.target.storage(slot)
    properties = {
        STORAGE: f"{run.target.schema}.{slot}",
        DOCS: run.docs.mark,
        SIZE: str(_bytes(run, storage)),
    }
    run.executor.write(
        "create the facade",
        facade_view(
            run.target.name,
            view.facade(),
            Binding(storage),
            properties,
            run.docs.relation,
            run.docs.columns,
        ),
    )


def ensure_facade(run: Refresh, slot: str, view: CompiledView) -> None:
    described = run.docs.mark in run.target.facade_text
    if run.target.facade == "view" and run.target.shows(slot) and described:
        return
    if run.target.facade == "table":
        run.drop_table()
    _create_facade(run, slot, view)
