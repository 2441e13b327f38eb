-- Svingos et al., example 2.1 and figure 1, with its counts
select l1.s, l2.d, count(*) as n from link l1, link l2 where l1.d = l2.s group by l1.s, l2.d
-- expected
project `link_s_3` AS `s`, `link_d_2_2` AS `d`, `count` AS `n`  ids(s, d)
  aggregate [`link_s` AS `link_s_3`, `link_d_2` AS `link_d_2_2`] count = count(*)  ids(link_s_3, link_d_2_2)
    filter `link_d` = `link_s_2`  ids(link_s, link_d, link_s_2, link_d_2)
      join (cross)  ids(link_s, link_d, link_s_2, link_d_2)
        scan d.link #1 (link_s, link_d)  ids(link_s, link_d)
        scan d.link #2 (link_s_2, link_d_2)  ids(link_s_2, link_d_2)
