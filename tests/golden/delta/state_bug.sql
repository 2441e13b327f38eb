-- Colby et al., example 1.2: both tables change, and the delta is two rows, not four
select r.a from r, s where r.b = s.b
-- expected
SELECT
  `a`,
  `__ivm_id_1`,
  SUM(`__ivm_w`) AS `__ivm_w`
FROM (
  SELECT
    `a`,
    `r_b` AS `__ivm_id_1`,
    `__ivm_w`
  FROM (
    SELECT
      `r_a` AS `a`,
      `r_b`,
      `s_b`,
      `__ivm_w`
    FROM (
      SELECT
        `r_a`,
        `r_b`,
        `s_b`,
        `__ivm_w`
      FROM (
        SELECT /*+ BROADCAST(i0) */
          `r_a`,
          `r_b`,
          `s_b`,
          `i0`.`__ivm_w` AS `__ivm_w`
        FROM (
          SELECT
            `a` AS `r_a`,
            `b` AS `r_b`,
            `__ivm_w`
          FROM `@changes`.`d.r`
        ) AS `i0`
        CROSS JOIN (
          SELECT
            `b` AS `s_b`
          FROM `@post`.`d.s`
        ) AS `i1`
        UNION ALL
        SELECT /*+ BROADCAST(i1) */
          `r_a`,
          `r_b`,
          `s_b`,
          `i0`.`__ivm_w` * `i1`.`__ivm_w` AS `__ivm_w`
        FROM (
          SELECT
            `b` AS `s_b`,
            `__ivm_w`
          FROM `@changes`.`d.s`
        ) AS `i1`
        CROSS JOIN (
          SELECT
            `a` AS `r_a`,
            `b` AS `r_b`,
            1 AS `__ivm_w`
          FROM `@post`.`d.r`
          UNION ALL
          SELECT
            `a` AS `r_a`,
            `b` AS `r_b`,
            -`__ivm_w` AS `__ivm_w`
          FROM `@changes`.`d.r`
        ) AS `i0`
      ) AS `input`
      WHERE
        `r_b` = `s_b`
    ) AS `input`
  ) AS `core`
) AS `signed`
GROUP BY
  `a`,
  `__ivm_id_1`
HAVING
  SUM(`__ivm_w`) <> 0
