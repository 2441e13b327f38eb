-- Svingos et al., example 2.1, as a bag: (a, c) has two derivations
select l1.s, l2.d from link l1, link l2 where l1.d = l2.s
-- expected
rows, found by (s, __ivm_id_1, d)
  s string
  d string
  __ivm_id_1 string
SELECT
  `s`,
  `d`
FROM `@storage`
WHERE
  `__ivm_ctl` IS NULL
