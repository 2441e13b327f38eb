-- Colby et al., example 1.2: both tables change, and the delta is two rows, not four
select r.a from r, s where r.b = s.b
-- expected
bag, found by (a, __ivm_id_1)
  a string
  __ivm_id_1 string
SELECT
  `a`
FROM `@storage`
WHERE
  `__ivm_ctl` IS NULL
