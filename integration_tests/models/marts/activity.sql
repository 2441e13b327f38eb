select 'order' as kind, o.order_id as reference, c.customer_name as who, o.order_date as day
from {{ ref('stg_orders') }} o
join {{ ref('stg_customers') }} c using (customer_id)
union all
select 'visit', customer_id, store, visit_date
from {{ source('shop', 'store_visits') }}
