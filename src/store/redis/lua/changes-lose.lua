-- Changes of a tenant's records may have been lost: those who follow it are told so.
-- KEYS: what is known of the tenant's changes.
-- ARGV: the highest number that is known of, or 0.
-- Returns the number up to which changes may be missing; false where the tenant is not followed.
local last = redis.call('HGET', KEYS[1], 'last')
if not last then return false end
local time = redis.call('TIME')
local lost = string.format('%.0f', math.max(time[1] * 1000000 + time[2], last + 1, ARGV[1] + 1))
redis.call('HSET', KEYS[1], 'lost', lost, 'last', lost)
return lost
