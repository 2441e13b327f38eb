-- Svingos et al., example 2.1 and figure 1, with its counts
select l1.s, l2.d, count(*) as n from link l1, link l2 where l1.d = l2.s group by l1.s, l2.d
-- expected
groups, found by (s, d)
  s string
  d string
  __ivm_count bigint
SELECT
  `s`,
  `d`,
  `__ivm_count` AS `n`
FROM `@storage`
WHERE
  `__ivm_ctl` IS NULL
