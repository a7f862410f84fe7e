-- A tenant's changes are followed: from now on they are kept.
-- KEYS: what is known of the tenant's changes, numbers by record, states by record.
-- ARGV: seconds that they are kept without another follower.
-- Returns the number up to which changes may be gone, and the last one.
local known = redis.call('HMGET', KEYS[1], 'floor', 'last')
if not known[1] then
  local time = redis.call('TIME')
  local now = string.format('%.0f', time[1] * 1000000 + time[2])
  redis.call('DEL', KEYS[2], KEYS[3])
  redis.call('HSET', KEYS[1], 'floor', now, 'last', now, 'lost', now)
  known = {now, now}
end
for at = 1, 3 do redis.call('EXPIRE', KEYS[at], ARGV[1]) end
return known
