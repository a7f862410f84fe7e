-- Takes a place in each of several sets of calls that run, or in none. A place is held until its lease ends, so that those of
-- a node that is gone come free.
--
-- KEYS[n]      a sorted set of calls by the end of their leases, ms
-- ARGV[1]      the call
-- ARGV[2]      length of a lease, ms; 0: only look
-- ARGV[2 + n]  how many calls the set may hold
--
-- Returns 0, or the number of the first set that is full, from 1. A call that has a place keeps it, with a new lease.
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = tonumber(ARGV[2])
for index, key in ipairs(KEYS) do
  redis.call("ZREMRANGEBYSCORE", key, "-inf", string.format("%.0f", now))
  if not redis.call("ZSCORE", key, ARGV[1]) and redis.call("ZCARD", key) >= tonumber(ARGV[2 + index]) then
    return index
  end
end
if lease > 0 then
  for _, key in ipairs(KEYS) do
    redis.call("ZADD", key, string.format("%.0f", now + lease), ARGV[1])
    redis.call("PEXPIRE", key, lease)
  end
end
return 0
