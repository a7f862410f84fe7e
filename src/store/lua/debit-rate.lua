-- Tests a use against all of its buckets and debits all of them, or none.
--
-- KEYS[n]  hash of the n-th scope of the use: `tokens` and `at` of its minute bucket;
--          `<bucket>` and `<bucket>:start` of its counters
-- ARGV[1]  Unix ms
-- ARGV[2]  units; below 0 gives units back and never refuses
-- ARGV[3]  ms after which a hash nobody uses goes
-- ARGV[4…] per bucket five values: index of its key, bucket, limit, capacity, start of the window in ms (0: minute);
--          those of a key stand together
--
-- Returns { 1 or 0, left of each bucket as text }
--   left     after the debit; as it was when the use is refused
local now = tonumber(ARGV[1])
local units = tonumber(ARGV[2])
local scopes = {}
for at = 4, #ARGV, 5 do
  local index = tonumber(ARGV[at])
  local scope = scopes[index]
  if not scope then
    scope = { buckets = {}, fields = {} }
    scopes[index] = scope
  end
  local bucket = {
    name = ARGV[at + 1],
    limit = tonumber(ARGV[at + 2]),
    capacity = tonumber(ARGV[at + 3]),
    start = ARGV[at + 4],
  }
  local fields = scope.fields
  if bucket.start == "0" then
    fields[#fields + 1] = "tokens"
    fields[#fields + 1] = "at"
  else
    fields[#fields + 1] = bucket.name
    fields[#fields + 1] = bucket.name .. ":start"
  end
  scope.buckets[#scope.buckets + 1] = bucket
end
local enough = 1
for index, scope in ipairs(scopes) do
  local stored = redis.call("HMGET", KEYS[index], unpack(scope.fields))
  for place, bucket in ipairs(scope.buckets) do
    local value, since = stored[2 * place - 1], stored[2 * place]
    if bucket.start == "0" then
      local passed = math.max(0, now - (tonumber(since) or now))
      bucket.left = math.min(bucket.capacity, (tonumber(value) or bucket.capacity) + passed * bucket.limit / 60000)
    else
      bucket.used = since == bucket.start and tonumber(value) or 0
      bucket.left = bucket.limit - bucket.used
    end
    if bucket.left < units then
      enough = 0
    end
  end
end
local answer = { enough }
for index, scope in ipairs(scopes) do
  local changes = {}
  for _, bucket in ipairs(scope.buckets) do
    if enough == 1 then
      bucket.left = math.min(bucket.capacity, bucket.left - units)
      local isMinute = bucket.start == "0"
      changes[#changes + 1] = isMinute and "tokens" or bucket.name
      changes[#changes + 1] = isMinute and tostring(bucket.left) or tostring(math.max(0, bucket.used + units))
      changes[#changes + 1] = isMinute and "at" or bucket.name .. ":start"
      changes[#changes + 1] = isMinute and ARGV[1] or bucket.start
    end
    answer[#answer + 1] = tostring(bucket.left)
  end
  if enough == 1 then
    redis.call("HSET", KEYS[index], unpack(changes))
    redis.call("PEXPIRE", KEYS[index], ARGV[3])
  end
end
return answer
