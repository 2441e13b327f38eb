"""A compiled view in words: plan, IDs, keys, storage and the statements of a refresh."""

from __future__ import annotations

from collections.abc import Iterator

from ivm.apply.choice import choose
from ivm.apply.measure import example
from ivm.apply.merge import Move
from ivm.compiler import PASSES, CompiledView
from ivm.dialect import to_sql
from ivm.errors import Unsupported


def explain(model: str, view: CompiledView) -> str:
    return "\n".join(_sections(model, view))


def explain_unsupported(model: str, error: Unsupported) -> str:
    reasons = "\n".join(f"  - {reason}" for reason in error.reasons)
    return f"model {model}\n\nrebuilt in full on every run, because of\n{reasons}"


def _sections(model: str, view: CompiledView) -> Iterator[str]:
    storage = view.storage
    yield f"model {model}"
    yield f"\npasses: {', '.join(name for name, _ in PASSES)}"
    yield "\nplan"
    yield _indent(str(storage.core))
    yield "\nbase tables"
    for table in view.tables:
        key = table.primary_key
        shown = f"key ({', '.join(key.columns)}) from {key.origin}" if key else "no key: whole rows"
        yield f"  {table.name}: {shown}; reads {', '.join(view.columns[table.name])}"
        for fk in table.foreign_keys:
            yield (
                f"    foreign key ({', '.join(fk.columns)}) -> {fk.to} "
                f"({', '.join(fk.to_columns)}) from {fk.origin}"
            )
    yield "\nfk-graph"
    for edge in view.graph.edges:
        yield f"  #{edge.parent} ({', '.join(edge.columns)}) -> #{edge.child}"
    if not view.graph.edges:
        yield "  no edge: every changed table costs one counting leg"
    yield "\ni-diff schemas"
    for schema in view.schemas:
        yield (
            f"  {schema.table} #{schema.occurrence}: key ({', '.join(schema.key)}), conditional "
            f"({', '.join(schema.conditional)}), others ({', '.join(schema.non_conditional)})"
        )
    yield f"\nstorage: {storage.kind}, found by ({', '.join(storage.unit)})"
    for column in storage.columns:
        yield f"  {column.name} {column.type}"
    yield "\nfacade"
    yield _indent(to_sql(view.facade(), pretty=True))
    yield "\nbuild"
    yield _indent(to_sql(view.build("<control>"), pretty=True))
    for table in view.tables:
        delta = view.stage(frozenset({table.name}))
        assert delta is not None
        yield f"\nif {table.name} changed: stage the delta"
        yield _indent(to_sql(delta, pretty=True))
    yield "\nmeasure the delta"
    yield _indent(to_sql(view.measure(), pretty=True))
    measures = example(storage)
    form = choose(storage, measures)
    yield f"\ncommit ({form.name})"
    commit = view.commit(form, measures, Move("<expected>", "<new>"))
    yield _indent(to_sql(commit, pretty=True))


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
