select p.category, date_trunc('month', o.order_date) as month, count(*) as lines,
  sum(i.amount) as revenue, avg(i.quantity) as mean_quantity,
  sum(i.amount) filter (where o.status = 'returned') as returned
from {{ ref('stg_orders') }} o
join {{ ref('stg_order_items') }} i on i.order_id = o.order_id
join {{ ref('stg_products') }} p on p.product_id = i.product_id
group by p.category, date_trunc('month', o.order_date)
having count(*) > 1
