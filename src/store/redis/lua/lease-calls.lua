-- Gives back places in sets of calls that run, and takes places for others, one after the other: each in all of its sets, or
-- in none. A place is held until its lease ends, so that those of a node that is gone come free.
--
-- KEYS[n]  sorted sets of calls by the end of their leases, ms
-- ARGV[1]  how many calls give back; each: the call, how many sets, their indexes
-- then     each that takes: the call, the length of its lease, ms (0: only look), how many sets, and for each set its index
--          and how many calls it may hold
--
-- Returns for each that takes 0, or the number of its first set that is full, from 1. A call that has a place keeps it,
-- with a new lease. Calls named `<line>/<id>` follow each other: where a set is full, one that takes has the places of those
-- before it in its line.
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local at = 2

for _ = 1, tonumber(ARGV[1]) do
  local call, sets = ARGV[at], tonumber(ARGV[at + 1])
  for index = at + 2, at + 1 + sets do
    redis.call("ZREM", KEYS[tonumber(ARGV[index])], call)
  end
  at = at + 2 + sets
end

-- What has expired, and those before it in its line, are only looked for where there is no room otherwise.
local function isFull(key, most, call)
  if redis.call("ZCARD", key) < most or redis.call("ZSCORE", key, call) then
    return false
  end
  redis.call("ZREMRANGEBYSCORE", key, "-inf", string.format("%.0f", now))
  local line = string.match(call, "^.*/")
  if line then
    for _, other in ipairs(redis.call("ZRANGE", key, 0, -1)) do
      if string.sub(other, 1, #line) == line then
        redis.call("ZREM", key, other)
      end
    end
  end
  return redis.call("ZCARD", key) >= most
end

local answers = {}
while at <= #ARGV do
  local call, lease, sets = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local full = 0
  for set = 1, sets do
    if isFull(KEYS[tonumber(ARGV[at + 1 + set * 2])], tonumber(ARGV[at + 2 + set * 2]), call) then
      full = set
      break
    end
  end
  if full == 0 and lease > 0 then
    for set = 1, sets do
      local key = KEYS[tonumber(ARGV[at + 1 + set * 2])]
      redis.call("ZADD", key, string.format("%.0f", now + lease), call)
      if redis.call("PTTL", key) < lease then
        redis.call("PEXPIRE", key, lease)
      end
    end
  end
  answers[#answers + 1] = full
  at = at + 3 + sets * 2
end
return answers
