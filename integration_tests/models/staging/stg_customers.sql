select customer_id, name as customer_name, coalesce(city, 'unknown') as city
from {{ source('shop', 'customers') }}
