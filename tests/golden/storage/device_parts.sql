-- Katsis et al., figures 1 and 2: the price of P1 changes in two rows of the view
select did, pid, price from parts natural join devices_parts natural join devices where category = 'phone'
-- expected
rows, found by (pid, did)
  did string
  pid string
  price int
  __ivm_id_2 string
  __ivm_id_3 string
SELECT
  `did`,
  `pid`,
  `price`
FROM `@storage`
WHERE
  `__ivm_ctl` IS NULL
