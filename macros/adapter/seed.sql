{#- Create or replace with the first batch in one commit: readers never see an empty table, and
    the table's Delta log goes on. -#}
{% macro sparkivm__create_csv_table(model, agate_table) %}
  {%- set replaces = config.get('file_format') in ['delta', 'iceberg'] -%}
  {%- set literals = adapter.seed_literals(agate_table) -%}
  {%- set sql -%}
    create {{ 'or replace ' if replaces }}table {{ this.render() }}
    {{ file_format_clause() }}
    {{ options_clause() }}
    {{ tblproperties_clause() }}
    {{ partition_cols(label="partitioned by") }}
    {{ clustered_cols(label="clustered by") }}
    {{ location_clause() }}
    {{ comment_clause() }}
    as {{ sparkivm__seed_select(model, agate_table, literals[0] if literals else "'[]'") }}
  {%- endset -%}
  {%- do adapter.add_query(sql, abridge_sql_log=True) -%}
  {{ return(sql) }}
{% endmacro %}


{% macro sparkivm__reset_csv_table(model, full_refresh, old_relation, agate_table) %}
  {%- set file_format = config.get('file_format') -%}
  {%- set same_format = (file_format == 'delta' and old_relation.is_delta)
        or (file_format == 'iceberg' and old_relation.is_iceberg) -%}
  {%- if not same_format -%}
    {%- do adapter.drop_relation(old_relation) -%}
  {%- endif -%}
  {{ return(create_csv_table(model, agate_table)) }}
{% endmacro %}


{#- The first batch came with the table. -#}
{% macro sparkivm__load_csv_rows(model, agate_table) %}
  {%- for literal in adapter.seed_literals(agate_table)[1:] -%}
    {%- set sql -%}
      insert into {{ this.render() }} {{ sparkivm__seed_select(model, agate_table, literal) }}
    {%- endset -%}
    {%- do adapter.add_query(sql, abridge_sql_log=True) -%}
  {%- endfor -%}
  {{ return('') }}
{% endmacro %}


{% macro sparkivm__seed_select(model, agate_table, literal) %}
  {%- set types = model['config'].get('column_types', {}) -%}
  {%- set quote = model['config'].get('quote_columns', none) -%}
    select
    {%- for name in agate_table.column_names %}
      cast(c{{ loop.index0 }} as {{ types.get(name, adapter.convert_type(agate_table, loop.index0)) }})
        as {{ adapter.quote_seed_column(name | string, quote) }}{{ ',' if not loop.last }}
    {%- endfor %}
    from (select inline(from_json({{ literal }}, 'array<struct<
    {%- for name in agate_table.column_names -%}
      c{{ loop.index0 }}:string{{ ',' if not loop.last }}
    {%- endfor -%}
    >>')))
{% endmacro %}
