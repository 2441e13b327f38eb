select o.order_id, i.line_number, o.order_date, c.customer_name, c.city, p.title, p.category,
  i.quantity, i.amount
from {{ ref('stg_orders') }} o
join {{ ref('stg_order_items') }} i on i.order_id = o.order_id
join {{ ref('stg_customers') }} c on c.customer_id = o.customer_id
join {{ ref('stg_products') }} p on p.product_id = i.product_id
