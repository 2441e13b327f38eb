{% macro ivm_explain(model) %}
  {{ return(adapter.dispatch('ivm_explain', 'ivm')(model)) }}
{% endmacro %}


{% macro default__ivm_explain(model) %}
  {%- if execute -%}
    {%- set node, sql = adapter.ivm_compiled(model) -%}
    {{ print(adapter.ivm_explain(node, sql)) }}
  {%- endif -%}
{% endmacro %}
