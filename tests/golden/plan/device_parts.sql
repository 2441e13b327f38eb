-- Katsis et al., figures 1 and 2: the price of P1 changes in two rows of the view
select did, pid, price from parts natural join devices_parts natural join devices where category = 'phone'
-- expected
project `devices_parts_did` AS `did`, `parts_pid` AS `pid`, `parts_price` AS `price`, `devices_parts_pid`, `devices_did`  ids(pid, did, devices_parts_pid, devices_did)
  filter `devices_category` = 'phone'  ids(parts_pid, devices_parts_did, devices_parts_pid, devices_did)
    join `parts_pid` = `devices_parts_pid` AND `devices_parts_did` = `devices_did`  ids(parts_pid, devices_parts_did, devices_parts_pid, devices_did)
      scan d.parts #1 (parts_pid, parts_price)  ids(parts_pid)
      scan d.devices_parts #2 (devices_parts_did, devices_parts_pid)  ids(devices_parts_did, devices_parts_pid)
      scan d.devices #3 (devices_did, devices_category)  ids(devices_did)
