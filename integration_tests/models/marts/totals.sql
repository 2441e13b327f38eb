select count(*) as orders, sum(i.amount) as revenue, sum(i.amount) / count(*) as per_line
from {{ ref('stg_orders') }} o
join {{ ref('stg_order_items') }} i on i.order_id = o.order_id
