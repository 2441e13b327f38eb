from dbt.adapters.base import AdapterPlugin
from dbt.adapters.sparkivm.connections import SparkivmConnectionManager
from dbt.adapters.sparkivm.credentials import SparkivmCredentials
from dbt.adapters.sparkivm.impl import SparkivmAdapter
from dbt.include import sparkivm

Plugin = AdapterPlugin(
    adapter=SparkivmAdapter,  # type: ignore[arg-type]
    credentials=SparkivmCredentials,
    include_path=sparkivm.PACKAGE_PATH,
    dependencies=["spark"],
)

__all__ = ["Plugin", "SparkivmAdapter", "SparkivmConnectionManager", "SparkivmCredentials"]
