-- Svingos et al., example 2.1 and figure 1, with its counts
select l1.s, l2.d, count(*) as n from link l1, link l2 where l1.d = l2.s group by l1.s, l2.d
-- expected
SELECT
  `link_s_3` AS `s`,
  `link_d_2_2` AS `d`,
  SUM(`__ivm_w`) AS `__ivm_count`,
  MAX(0) AS `__ivm_recompute`
FROM (
  SELECT
    `link_s_3`,
    `link_d_2_2`,
    `__ivm_w`
  FROM (
    SELECT
      `link_s` AS `link_s_3`,
      `link_d_2` AS `link_d_2_2`,
      `__ivm_w`
    FROM (
      SELECT
        `link_s`,
        `link_d`,
        `link_s_2`,
        `link_d_2`,
        `__ivm_w`
      FROM (
        SELECT /*+ BROADCAST(i0) */
          `link_s`,
          `link_d`,
          `link_s_2`,
          `link_d_2`,
          `i0`.`__ivm_w` AS `__ivm_w`
        FROM (
          SELECT
            `s` AS `link_s`,
            `d` AS `link_d`,
            `__ivm_w`
          FROM `@changes`.`d.link`
        ) AS `i0`
        CROSS JOIN (
          SELECT
            `s` AS `link_s_2`,
            `d` AS `link_d_2`
          FROM `@post`.`d.link`
        ) AS `i1`
        UNION ALL
        SELECT /*+ BROADCAST(i1) */
          `link_s`,
          `link_d`,
          `link_s_2`,
          `link_d_2`,
          `i0`.`__ivm_w` * `i1`.`__ivm_w` AS `__ivm_w`
        FROM (
          SELECT
            `s` AS `link_s_2`,
            `d` AS `link_d_2`,
            `__ivm_w`
          FROM `@changes`.`d.link`
        ) AS `i1`
        CROSS JOIN (
          SELECT
            `s` AS `link_s`,
            `d` AS `link_d`,
            1 AS `__ivm_w`
          FROM `@post`.`d.link`
          UNION ALL
          SELECT
            `s` AS `link_s`,
            `d` AS `link_d`,
            -`__ivm_w` AS `__ivm_w`
          FROM `@changes`.`d.link`
        ) AS `i0`
      ) AS `input`
      WHERE
        `link_d` = `link_s_2`
    ) AS `input`
  ) AS `core`
) AS `signed`
GROUP BY
  `link_s_3`,
  `link_d_2_2`
HAVING
  SUM(`__ivm_w`) <> 0
