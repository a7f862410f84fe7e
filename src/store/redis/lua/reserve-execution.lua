-- Reserves a place among the executions a tenant has under way, if the tenant's quota leaves one.
--
-- KEYS[1]  sorted set of the tenant: execution id → Unix ms of its reservation;
--          the member "" → Unix ms at which the set was last compared with the records
-- ARGV[1]  execution id
-- ARGV[2]  limit; -1 counts without ever refusing
--
-- Returns { outcome, used, age }
--   outcome  1 reserved, now or earlier; 0 no place is left; -1 nothing is known of this tenant: compare first
--   used     places taken, this one included if it was reserved
--   age      ms since the last comparison
local compared = redis.call("ZSCORE", KEYS[1], "")
if not compared then
  return { -1, 0, 0 }
end
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local age = now - tonumber(compared)
local used = redis.call("ZCARD", KEYS[1]) - 1
if redis.call("ZSCORE", KEYS[1], ARGV[1]) then
  return { 1, used, age }
end
local limit = tonumber(ARGV[2])
if limit >= 0 and used >= limit then
  return { 0, used, age }
end
redis.call("ZADD", KEYS[1], now, ARGV[1])
return { 1, used + 1, age }
