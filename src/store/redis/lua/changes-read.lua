-- Changes of a tenant's records behind a number.
-- KEYS: what is known of the tenant's changes, numbers by record, states by record.
-- ARGV: the number, and how many are read at most.
-- Returns false where the tenant is not followed; else the number up to which changes may be gone, the one up to which
-- some may have been lost, the last one, and of each record its name, its number and its state.
local known = redis.call('HMGET', KEYS[1], 'floor', 'lost', 'last')
if not known[1] then return false end
local found = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[1], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[2])
local answer = {known[1], known[2], known[3]}
for at = 1, #found, 2 do
  local state = redis.call('HGET', KEYS[3], found[at])
  if state then
    answer[#answer + 1] = found[at]
    answer[#answer + 1] = string.format('%.0f', found[at + 1])
    answer[#answer + 1] = state
  end
end
return answer
