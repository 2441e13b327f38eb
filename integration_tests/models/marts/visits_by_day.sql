select visit_date, store, count(*) as visits, count(customer_id) as known_visitors
from {{ source('shop', 'store_visits') }}
group by all
