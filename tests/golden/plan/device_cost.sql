-- Katsis et al., figure 5: cost per device
select did, sum(price) as cost from parts natural join devices_parts natural join devices where category = 'phone' group by did
-- expected
project `devices_parts_did_2` AS `did`, `sum` AS `cost`  ids(did)
  aggregate [`devices_parts_did` AS `devices_parts_did_2`] sum = sum(`parts_price`)  ids(devices_parts_did_2)
    filter `devices_category` = 'phone'  ids(parts_pid, devices_parts_did, devices_parts_pid, devices_did)
      join `parts_pid` = `devices_parts_pid` AND `devices_parts_did` = `devices_did`  ids(parts_pid, devices_parts_did, devices_parts_pid, devices_did)
        scan d.parts #1 (parts_pid, parts_price)  ids(parts_pid)
        scan d.devices_parts #2 (devices_parts_did, devices_parts_pid)  ids(devices_parts_did, devices_parts_pid)
        scan d.devices #3 (devices_did, devices_category)  ids(devices_did)
