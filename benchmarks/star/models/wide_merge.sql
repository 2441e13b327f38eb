{{ config(materialized='incremental', incremental_strategy='merge', unique_key='sale_id',
          post_hook="{{ delete_gone(this) if is_incremental() }}") }}
select f.sale_id, i.item_id, i.category, a.city, a.gmt_offset, d.year, d.month, f.quantity, f.price
from
{%- if is_incremental() %}
(
  select * from table_changes('raw.fact', {{ var('since') }}, {{ var('until') }})
  where _change_type in ('insert', 'update_postimage')
) f
{%- else %}
{{ source("raw", "fact") }} f
{%- endif %}
join {{ source("raw", "item") }} i on f.item_sk = i.item_sk
join {{ source("raw", "address") }} a on f.address_sk = a.address_sk
join {{ source("raw", "calendar") }} d on f.date_sk = d.date_sk
