"""Plans to statements: holes are filled with real tables, versions and change queries."""

from ivm.render.binding import Binding, Source, fill
from ivm.render.spark import (
    build_storage,
    drop_stage,
    facade_view,
    stage_table,
    statement,
)

__all__ = [
    "Binding",
    "Source",
    "build_storage",
    "drop_stage",
    "facade_view",
    "fill",
    "stage_table",
    "statement",
]
