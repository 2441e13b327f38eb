-- Quass, section 3: a sale moves to another day, one is deleted, two arrive
select store_id, date, sum(sale_price) as daily_total, count(*) as total_count from sales_log group by store_id, date
-- expected
project `sales_log_store_id_2` AS `store_id`, `sales_log_date_2` AS `date`, `sum` AS `daily_total`, `count` AS `total_count`  ids(store_id, date)
  aggregate [`sales_log_store_id` AS `sales_log_store_id_2`, `sales_log_date` AS `sales_log_date_2`] sum = sum(`sales_log_sale_price`), count = count(*)  ids(sales_log_store_id_2, sales_log_date_2)
    scan d.sales_log #1 (sales_log_sale_id, sales_log_store_id, sales_log_date, sales_log_sale_price)  ids(sales_log_sale_id)
