-- Gives back places in sets of calls that run, and takes places for others, one after the other: each in all of its sets, or
-- in none. A place is held until its lease ends, so that those of a node that is gone come free.
--
-- KEYS[n]  sorted sets of calls by the end of their leases, ms
-- ARGV[1]  length of a lease, ms; 0: only look
-- ARGV[2]  how many calls give back; each: the call, how many sets, their indexes
-- then     each that takes: the call, how many sets, and for each set its index and how many calls it may hold
--
-- Returns for each that takes 0, or the number of its first set that is full, from 1. A call that has a place keeps it,
-- with a new lease.
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = tonumber(ARGV[1])
local ends = string.format("%.0f", now + lease)
local at = 3

for _ = 1, tonumber(ARGV[2]) do
  local call, sets = ARGV[at], tonumber(ARGV[at + 1])
  for index = at + 2, at + 1 + sets do
    redis.call("ZREM", KEYS[tonumber(ARGV[index])], call)
  end
  at = at + 2 + sets
end

-- What has expired is only looked for where there is no room otherwise.
local function isFull(key, most, call)
  if redis.call("ZCARD", key) < most or redis.call("ZSCORE", key, call) then
    return false
  end
  redis.call("ZREMRANGEBYSCORE", key, "-inf", string.format("%.0f", now))
  return redis.call("ZCARD", key) >= most
end

local answers = {}
while at <= #ARGV do
  local call, sets = ARGV[at], tonumber(ARGV[at + 1])
  local full = 0
  for set = 1, sets do
    if isFull(KEYS[tonumber(ARGV[at + set * 2])], tonumber(ARGV[at + set * 2 + 1]), call) then
      full = set
      break
    end
  end
  if full == 0 and lease > 0 then
    for set = 1, sets do
      local key = KEYS[tonumber(ARGV[at + set * 2])]
      redis.call("ZADD", key, ends, call)
      redis.call("PEXPIRE", key, lease)
    end
  end
  answers[#answers + 1] = full
  at = at + 2 + sets * 2
end
return answers
