{#- What an engineer adds by hand so that deletes arrive too; timed with the model. -#}
{% macro delete_gone(target) %}
  merge into {{ target }} as t
  using (
    select distinct sale_id from table_changes('raw.fact', {{ var('since', 0) }}, {{ var('until', 0) }})
    where _change_type = 'delete'
  ) as d
  on t.sale_id = d.sale_id
  when matched then delete
{% endmacro %}
