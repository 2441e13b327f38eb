-- Colby et al., example 1.2: both tables change, and the delta is two rows, not four
select r.a from r, s where r.b = s.b
-- expected
project `r_a` AS `a`, `r_b`, `s_b`  ids(a, r_b, s_b)
  filter `r_b` = `s_b`  ids(r_a, r_b, s_b)
    join (cross)  ids(r_a, r_b, s_b)
      scan d.r #1 (r_a, r_b)  ids(r_a, r_b)
      scan d.s #2 (s_b)  ids(s_b)
