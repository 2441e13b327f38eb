-- Katsis et al., figures 1 and 2: the price of P1 changes in two rows of the view
select did, pid, price from parts natural join devices_parts natural join devices where category = 'phone'
-- expected
SELECT
  `did`,
  `pid`,
  `price`,
  `__ivm_id_2`,
  `__ivm_id_3`,
  SUM(`__ivm_w`) AS `__ivm_w`
FROM (
  SELECT
    `did`,
    `pid`,
    `price`,
    `devices_parts_pid` AS `__ivm_id_2`,
    `devices_did` AS `__ivm_id_3`,
    `__ivm_w`
  FROM (
    SELECT
      `devices_parts_did` AS `did`,
      `parts_pid` AS `pid`,
      `parts_price` AS `price`,
      `devices_parts_pid`,
      `devices_did`,
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
  ) AS `core`
) AS `signed`
GROUP BY
  `did`,
  `pid`,
  `price`,
  `__ivm_id_2`,
  `__ivm_id_3`
HAVING
  SUM(`__ivm_w`) <> 0
