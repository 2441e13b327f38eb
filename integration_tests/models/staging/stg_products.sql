{{ config(materialized='ephemeral') }}
select product_id, title, category from {{ source('shop', 'products') }}
