-- Katsis et al., figure 5: cost per device
select did, sum(price) as cost from parts natural join devices_parts natural join devices where category = 'phone' group by did
-- expected
groups, found by (did)
  did string
  __ivm_count bigint
  __ivm_present_0 bigint
  __ivm_sum_0 bigint
SELECT
  `did`,
  `__ivm_sum_0` AS `cost`
FROM `@storage`
WHERE
  `__ivm_ctl` IS NULL
