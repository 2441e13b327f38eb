select order_id, line_number, product_id, quantity, unit_price, quantity * unit_price as amount
from {{ source('shop', 'order_items') }}
