-- Katsis et al., figure 5: cost per device
select did, sum(price) as cost from parts natural join devices_parts natural join devices where category = 'phone' group by did
-- expected
SELECT
  `devices_parts_did_2` AS `did`,
  SUM(`__ivm_w`) AS `__ivm_count`,
  SUM(CASE WHEN `a0` IS NOT NULL THEN `__ivm_w` ELSE 0 END) AS `__ivm_present_0`,
  SUM(CASE WHEN `__ivm_w` > 0 THEN CAST(`a0` AS BIGINT) ELSE -CAST(`a0` AS BIGINT) END) AS `__ivm_sum_0`,
  MAX(0) AS `__ivm_recompute`
FROM (
  SELECT
    `devices_parts_did_2`,
    `a0`,
    CASE WHEN `__ivm_w` > 0 THEN 1 ELSE -1 END AS `__ivm_w`
  FROM (
    SELECT
      `devices_parts_did_2`,
      `a0`,
      `__ivm_w`
    FROM (
      SELECT
        `devices_parts_did` AS `devices_parts_did_2`,
        `parts_price` AS `a0`,
        `__ivm_w`
      FROM (
        SELECT
          `parts_pid`,
          `parts_price`,
          `devices_parts_did`,
          `devices_parts_pid`,
          `devices_did`,
          `devices_category`,
          `__ivm_w`
        FROM (
          SELECT /*+ BROADCAST(i0) */
            `parts_pid`,
            `parts_price`,
            `devices_parts_did`,
            `devices_parts_pid`,
            `devices_did`,
            `devices_category`,
            `i0`.`__ivm_w` AS `__ivm_w`
          FROM (
            SELECT
              `pid` AS `parts_pid`,
              `price` AS `parts_price`,
              `__ivm_w`
            FROM `@changes`.`d.parts`
          ) AS `i0`
          INNER JOIN (
            SELECT
              `did` AS `devices_parts_did`,
              `pid` AS `devices_parts_pid`
            FROM `@post`.`d.devices_parts`
          ) AS `i1`
            ON `parts_pid` = `devices_parts_pid`
          INNER JOIN (
            SELECT
              `did` AS `devices_did`,
              `category` AS `devices_category`
            FROM `@post`.`d.devices`
          ) AS `i2`
            ON `devices_parts_did` = `devices_did`
        ) AS `input`
        WHERE
          `devices_category` = 'phone'
      ) AS `input`
    ) AS `counted`
    LATERAL VIEW
    EXPLODE(SEQUENCE(1, ABS(`__ivm_w`))) copies AS __ivm_copy
  ) AS `core`
) AS `signed`
GROUP BY
  `devices_parts_did_2`
HAVING
  SUM(`__ivm_w`) <> 0
  OR SUM(CASE WHEN `a0` IS NOT NULL THEN `__ivm_w` ELSE 0 END) <> 0
  OR SUM(CASE WHEN `__ivm_w` > 0 THEN CAST(`a0` AS BIGINT) ELSE -CAST(`a0` AS BIGINT) END) <> 0
