-- Quass, section 3: a sale moves to another day, one is deleted, two arrive
select store_id, date, sum(sale_price) as daily_total, count(*) as total_count from sales_log group by store_id, date
-- expected
SELECT
  `sales_log_store_id_2` AS `store_id`,
  `sales_log_date_2` AS `date`,
  SUM(`__ivm_w`) AS `__ivm_count`,
  SUM(CASE WHEN `a0` IS NOT NULL THEN `__ivm_w` ELSE 0 END) AS `__ivm_present_0`,
  SUM(CASE WHEN `__ivm_w` > 0 THEN CAST(`a0` AS BIGINT) ELSE -CAST(`a0` AS BIGINT) END) AS `__ivm_sum_0`,
  MAX(0) AS `__ivm_recompute`
FROM (
  SELECT
    `sales_log_store_id_2`,
    `sales_log_date_2`,
    `a0`,
    CASE WHEN `__ivm_w` > 0 THEN 1 ELSE -1 END AS `__ivm_w`
  FROM (
    SELECT
      `sales_log_store_id_2`,
      `sales_log_date_2`,
      `a0`,
      `__ivm_w`
    FROM (
      SELECT
        `sales_log_store_id` AS `sales_log_store_id_2`,
        `sales_log_date` AS `sales_log_date_2`,
        `sales_log_sale_price` AS `a0`,
        `__ivm_w`
      FROM (
        SELECT
          `sale_id` AS `sales_log_sale_id`,
          `store_id` AS `sales_log_store_id`,
          `date` AS `sales_log_date`,
          `sale_price` AS `sales_log_sale_price`,
          `__ivm_w`
        FROM `@changes`.`d.sales_log`
      ) AS `input`
    ) AS `counted`
    LATERAL VIEW
    EXPLODE(SEQUENCE(1, ABS(`__ivm_w`))) copies AS __ivm_copy
  ) AS `core`
) AS `signed`
GROUP BY
  `sales_log_store_id_2`,
  `sales_log_date_2`
HAVING
  SUM(`__ivm_w`) <> 0
  OR SUM(CASE WHEN `a0` IS NOT NULL THEN `__ivm_w` ELSE 0 END) <> 0
  OR SUM(CASE WHEN `__ivm_w` > 0 THEN CAST(`a0` AS BIGINT) ELSE -CAST(`a0` AS BIGINT) END) <> 0
