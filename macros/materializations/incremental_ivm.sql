{#- Declared for spark, so that the repo works as a plain package up to the error below. -#}
{% materialization incremental_ivm, adapter='spark', supported_languages=['sql'] %}
  {%- if adapter.type() != 'sparkivm' -%}
    {{ exceptions.raise_compiler_error(
         "materialized='incremental_ivm' needs the adapter: pip install dbt-sparkivm, and "
         ~ "`type: sparkivm` instead of `type: " ~ adapter.type() ~ "` in the profile") }}
  {%- endif -%}

  {%- set target = this.incorporate(type='view') -%}

  {{ run_hooks(pre_hooks) }}

  {%- set result = adapter.ivm_refresh(model, this, sql, should_full_refresh()) -%}
  {%- do write(result.transcript) -%}
  {%- do store_result('main', response=result.response) -%}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target]}) }}
{% endmaterialization %}
