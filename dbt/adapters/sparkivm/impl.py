"""The adapter: dbt-spark's, with Delta as the default format and seeds that are exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.adapters.base.meta import available
from dbt.adapters.spark.impl import SparkAdapter, SparkConfig
from dbt.adapters.sparkivm.connections import SparkivmConnectionManager
from dbt.adapters.sparkivm.ivm import IvmMixin
from dbt.adapters.sparkivm.seeds import json_literals

if TYPE_CHECKING:
    import agate

FILE_FORMAT = "delta"


@dataclass
class SparkivmConfig(SparkConfig):
    file_format: str = FILE_FORMAT


class SparkivmAdapter(IvmMixin, SparkAdapter):
    ConnectionManager = SparkivmConnectionManager  # type: ignore[assignment]
    AdapterSpecificConfigs = SparkivmConfig  # type: ignore[assignment]

    def pre_model_hook(self, config: Any) -> Any:
        # dbt-spark's macros ask for file_format in a dozen places, each with its own default.
        # Filling it in before the materialization runs serves table, incremental, seed, snapshot.
        node = getattr(config.model, "config", None)
        if node is not None and node.get("file_format") is None:
            node["file_format"] = FILE_FORMAT
        return super().pre_model_hook(config)

    @available.parse(lambda *_: [])
    def seed_literals(self, table: agate.Table) -> list[str]:
        """The rows of a seed as SQL string literals, each a JSON array of rows of strings."""
        return list(json_literals(table.rows))
