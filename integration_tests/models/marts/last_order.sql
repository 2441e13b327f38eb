{#- max() is not maintained yet: this one shows what a rebuild says. -#}
select customer_id, max(order_date) as last_order
from {{ ref('stg_orders') }}
group by customer_id
