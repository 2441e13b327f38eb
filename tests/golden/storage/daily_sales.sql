-- Quass, section 3: a sale moves to another day, one is deleted, two arrive
select store_id, date, sum(sale_price) as daily_total, count(*) as total_count from sales_log group by store_id, date
-- expected
groups, found by (store_id, date)
  store_id int
  date date
  __ivm_count bigint
  __ivm_present_0 bigint
  __ivm_sum_0 bigint
SELECT
  `store_id`,
  `date`,
  `__ivm_sum_0` AS `daily_total`,
  `__ivm_count` AS `total_count`
FROM `@storage`
WHERE
  `__ivm_ctl` IS NULL
