-- Svingos et al., example 2.1, as a bag: (a, c) has two derivations
select l1.s, l2.d from link l1, link l2 where l1.d = l2.s
-- expected
SELECT
  `s`,
  `d`,
  `__ivm_id_1`,
  SUM(`__ivm_w`) AS `__ivm_w`
FROM (
  SELECT
    `s`,
    `d`,
    `link_d` AS `__ivm_id_1`,
    `__ivm_w`
  FROM (
    SELECT
      `link_s` AS `s`,
      `link_d_2` AS `d`,
      `link_d`,
      `link_s_2`,
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
  `s`,
  `d`,
  `__ivm_id_1`
HAVING
  SUM(`__ivm_w`) <> 0
