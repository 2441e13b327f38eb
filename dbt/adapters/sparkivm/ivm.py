"""What the macros can ask of the adapter: refresh a model, explain one."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from dbt.adapters.base.meta import AdapterMeta, available
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.sparkivm.catalog import WarehouseCatalog
from dbt.adapters.sparkivm.config import IvmConfig
from dbt.adapters.sparkivm.executor import Executor
from dbt.adapters.sparkivm.keys import Keys
from dbt.adapters.sparkivm.refresh import Refresh
from dbt.adapters.sparkivm.report import respond
from dbt.adapters.sparkivm.target import Docs, Target
from dbt_common.exceptions import DbtRuntimeError

from ivm import names
from ivm.compiler import Options, compile_view
from ivm.errors import IvmError, Unsupported
from ivm.explain import explain, explain_unsupported

logger = AdapterLogger("Sparkivm")


class IvmMixin(metaclass=AdapterMeta):
    """Works on any adapter that derives from dbt-spark's."""

    connections: Any
    config: Any

    @available.parse(lambda *_, **__: {})
    def ivm_refresh(
        self,
        model: dict[str, Any],
        relation: Any,
        sql: str,
        full_refresh: bool,
    ) -> dict[str, Any]:
        """Bring the model's view up to date. Returns the response and what was run."""
        started = time.perf_counter()
        executor = Executor(self._ivm_run)
        name = model["name"]
        try:
            settings = self._ivm_settings(hooked=bool(model["config"].get("pre-hook")))
            at_open = self._ivm_settings()
            changed = {s for s in settings if settings[s] != at_open.get(s)}
            refresh = Refresh(
                model=name,
                sql=sql.strip(),
                target=self._ivm_target(relation),
                config=self._ivm_config(model),
                executor=executor,
                keys=self._ivm_keys(),
                settings=settings,
                explicit=self._ivm_explicit() | changed,
                full_refresh=full_refresh,
                may_rebuild=model["config"].get("full_refresh") is not False,
                docs=Docs.read(model),
                stacked_on=self._ivm_stacked_on(model["unique_id"]),
                drop_table=lambda: self.drop_relation(self._ivm_cached(relation)),  # type: ignore[attr-defined]
            )
            outcome = refresh.run()
        except IvmError as error:
            raise DbtRuntimeError(_with_model(name, error)) from error
        finally:
            logger.debug(executor.transcript())
        for warning in outcome.warnings:
            logger.warning(f"{name}: {warning}")
        seconds = time.perf_counter() - started
        response = respond(outcome, len(executor.statements), seconds)
        logger.info(f"{name}: {response._message}") if outcome.strategy == "full rebuild" else None
        return {"response": response, "transcript": executor.transcript()}

    @available.parse(lambda *_, **__: "")
    def ivm_explain(self, model: dict[str, Any], sql: str) -> str:
        """The plan of a model, its IDs, keys and statements, as text."""
        read = Executor(self._ivm_run).read
        catalog = WarehouseCatalog(
            lambda text: read("explain", text),
            self._ivm_keys(),
            self._ivm_settings(),
            self._ivm_explicit(),
        )
        config = IvmConfig.read(model["name"], model["config"])
        try:
            options = Options(float_sums=config.float_sums)
            return explain(model["name"], compile_view(sql, catalog, options=options))
        except Unsupported as error:
            return explain_unsupported(model["name"], error)
        except IvmError as error:
            raise DbtRuntimeError(_with_model(model["name"], error)) from error

    @available.parse(lambda *_, **__: "")
    def ivm_compiled(self, model_name: str) -> list[Any]:
        """The node of a model and its compiled SQL, also when it is not part of this run."""
        import copy

        from dbt.compilation import Compiler

        manifest = self._ivm_manifest()
        found = [
            n
            for n in manifest.nodes.values()
            if n.resource_type == "model" and n.name == model_name
        ]
        if not found:
            raise DbtRuntimeError(f"there is no model called {model_name}")
        # Compiling writes into the node; a second compilation of it would fail.
        node = copy.deepcopy(found[0])
        sql = Compiler(self.config).compile_node(node, manifest, write=False).compiled_code
        return [found[0].to_dict(omit_none=False), sql]

    # -- what the refresh needs ---------------------------------------------------------------

    def _ivm_run(self, sql: str, fetch: bool) -> list[dict[str, Any]]:
        _, cursor = self.connections.add_query(
            self.connections._add_query_comment(sql), auto_begin=False
        )
        columns = [d[0] for d in cursor.description or ()]
        if not fetch or not columns:
            return []
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]

    def _ivm_config(self, model: dict[str, Any]) -> IvmConfig:
        config = IvmConfig.read(model["name"], model["config"])
        # With --empty dbt writes a LIMIT into every model: none of them is refused for that.
        if getattr(self.config.args, "EMPTY", False):
            config = replace(config, on_unsupported="rebuild")
        return config

    def _ivm_manifest(self) -> Any:
        return self.get_macro_resolver()  # type: ignore[attr-defined]

    def _ivm_stacked_on(self, unique_id: str) -> bool:
        """Whether a maintained model reads this one, directly or through views."""
        nodes = getattr(self._ivm_manifest(), "nodes", None) or {}
        reached, new = set[str](), {unique_id}
        while new:
            reached |= new
            readers = [n for n in nodes.values() if new & set(n.depends_on_nodes)]
            if any(n.config.materialized == "incremental_ivm" for n in readers):
                return True
            through = ("view", "ephemeral")
            new = {n.unique_id for n in readers if n.config.materialized in through} - reached
        return False

    def _ivm_keys(self) -> Keys:
        return Keys(self._ivm_manifest())

    def _ivm_settings(self, hooked: bool = False) -> dict[str, str]:
        """Those that change results; read again after hooks, which may have set them."""
        handle = self.connections.get_thread_connection().handle
        if not hooked:
            return dict(handle.settings)
        return dict(handle.read_settings(self.config.credentials.server_side_parameters))

    def _ivm_explicit(self) -> frozenset[str]:
        return frozenset(self.config.credentials.server_side_parameters)

    def _ivm_cached(self, relation: Any, identifier: str | None = None) -> Any:
        return self.get_relation(  # type: ignore[attr-defined]
            relation.database, relation.schema, identifier or relation.identifier
        )

    def _ivm_target(self, relation: Any) -> Target:
        slots = names.storage_names(relation.identifier)
        existing = tuple(s for s in slots if self._ivm_cached(relation, s) is not None)
        facade = self._ivm_cached(relation)
        kind = "" if facade is None else ("view" if facade.is_view else "table")
        text = str(getattr(facade, "information", None) or "")
        return Target(relation.schema, relation.identifier, existing, kind, text)


def _with_model(name: str, error: IvmError) -> str:
    text = str(error)
    return text if name in text else f"model {name}: {text}"
