-- Tells of changes of a tenant's records, where the tenant is followed: of each record its newest state is kept.
-- KEYS: what is known of the tenant's changes, numbers by record, states by record.
-- ARGV: microseconds between two changes of a record that are told; how many records are kept; microseconds that they
-- are kept; then for each change its record, its status, its time, its revision (empty: this call gives it) and when it
-- is told: always, first, differs.
-- Returns false where the tenant is not followed; else for each change the milliseconds that it is too early, or 0.
local known = redis.call('HMGET', KEYS[1], 'last', 'floor')
if not known[1] then return false end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local last = tonumber(known[1])
local rest = tonumber(ARGV[1])
local answer = {}
for at = 4, #ARGV, 5 do
  local record, status, when, given, telling = ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3]), ARGV[at + 4]
  local before = redis.call('HGET', KEYS[3], record)
  local wait = 0
  local isNews = true
  local former = 0
  if before then
    local rev, formerStatus = string.match(before, '^(%d+) (%S+) ')
    former = tonumber(rev)
    if telling == 'first' or (telling == 'differs' and formerStatus == status) or (given and given <= former) then
      isNews = false
    else
      local since = now - tonumber(redis.call('ZSCORE', KEYS[2], record) or 0)
      -- The clock of a server that came in place of another may be behind.
      if since >= -rest and since < rest then wait = math.ceil((rest - math.max(0, since)) / 1000) end
    end
  end
  if isNews and wait == 0 then
    last = math.max(now, last + 1)
    local rev = string.format('%.0f', given or math.max(last, former + 1))
    redis.call('ZADD', KEYS[2], string.format('%.0f', last), record)
    redis.call('HSET', KEYS[3], record, rev .. ' ' .. status .. ' ' .. when)
  end
  answer[#answer + 1] = wait
end
redis.call('HSET', KEYS[1], 'last', string.format('%.0f', last))
-- The oldest go first, some with each call.
local above = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[2])
local oldest = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if above > 0 or (oldest[2] and tonumber(oldest[2]) < now - tonumber(ARGV[3])) then
  local floor = known[2]
  local some = redis.call('ZRANGE', KEYS[2], 0, 499, 'WITHSCORES')
  for at = 1, #some, 2 do
    if above <= 0 and tonumber(some[at + 1]) >= now - tonumber(ARGV[3]) then break end
    redis.call('ZREM', KEYS[2], some[at])
    redis.call('HDEL', KEYS[3], some[at])
    floor = string.format('%.0f', some[at + 1])
    above = above - 1
  end
  redis.call('HSET', KEYS[1], 'floor', floor)
end
-- They go with what is known of them.
local ttl = redis.call('PTTL', KEYS[1])
if ttl > 0 then
  redis.call('PEXPIRE', KEYS[2], ttl)
  redis.call('PEXPIRE', KEYS[3], ttl)
end
return answer
