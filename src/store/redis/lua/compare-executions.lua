-- Brings a tenant's reservations in line with what the records say.
--
-- KEYS[1]  sorted set of the tenant, see reserve-execution.lua
-- ARGV[1]  grace in ms: how long a reservation may be without a record
-- ARGV[2]  ms after which an unused set expires
-- ARGV[3]  JSON list of the executions under way
-- ARGV[4]  JSON list of reserved executions that have ended
-- ARGV[5]  JSON list of reserved executions without a record
--
-- Returns the number of places taken
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZADD", KEYS[1], now, "")
for _, id in ipairs(cjson.decode(ARGV[3])) do
  redis.call("ZADD", KEYS[1], "NX", now, id)
end
for _, id in ipairs(cjson.decode(ARGV[4])) do
  redis.call("ZREM", KEYS[1], id)
end
for _, id in ipairs(cjson.decode(ARGV[5])) do
  local reserved = redis.call("ZSCORE", KEYS[1], id)
  if reserved and now - tonumber(reserved) >= tonumber(ARGV[1]) then
    redis.call("ZREM", KEYS[1], id)
  end
end
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return redis.call("ZCARD", KEYS[1]) - 1
