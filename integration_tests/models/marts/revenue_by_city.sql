{#- Stacked: reads another maintained model. -#}
select city, sum(amount) as revenue, count(*) as lines
from {{ ref('order_lines') }}
group by city
