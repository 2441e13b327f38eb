{{ config(materialized='incremental_ivm') }}
select f.sale_id, i.item_id, i.category, a.city, a.gmt_offset, d.year, d.month, f.quantity, f.price
from {{ source("raw", "fact") }} f
join {{ source("raw", "item") }} i on f.item_sk = i.item_sk
join {{ source("raw", "address") }} a on f.address_sk = a.address_sk
join {{ source("raw", "calendar") }} d on f.date_sk = d.date_sk
