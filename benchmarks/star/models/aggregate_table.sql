{{ config(materialized='table') }}
select i.category, d.year, d.month, a.gmt_offset, count(*) as sales, sum(f.quantity) as quantity,
  sum(f.price) as revenue, avg(f.price) as mean_price
from {{ source("raw", "fact") }} f
join {{ source("raw", "item") }} i on f.item_sk = i.item_sk
join {{ source("raw", "address") }} a on f.address_sk = a.address_sk
join {{ source("raw", "calendar") }} d on f.date_sk = d.date_sk
group by i.category, d.year, d.month, a.gmt_offset
