-- Svingos et al., example 2.1, as a bag: (a, c) has two derivations
select l1.s, l2.d from link l1, link l2 where l1.d = l2.s
-- expected
project `link_s` AS `s`, `link_d_2` AS `d`, `link_d`, `link_s_2`  ids(s, link_d, link_s_2, d)
  filter `link_d` = `link_s_2`  ids(link_s, link_d, link_s_2, link_d_2)
    join (cross)  ids(link_s, link_d, link_s_2, link_d_2)
      scan d.link #1 (link_s, link_d)  ids(link_s, link_d)
      scan d.link #2 (link_s_2, link_d_2)  ids(link_s_2, link_d_2)
