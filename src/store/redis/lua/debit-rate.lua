-- Tests uses against all of their buckets; each debits all of them, or none.
--
-- KEYS[n]  hash of a resource and a scope: `tokens` and `at` of its minute bucket; `<bucket>` and `<bucket>:start` of its
--          counters
-- ARGV[1]  Unix ms
-- ARGV[2]  ms after which an unused hash expires
-- ARGV[3]  JSON, per group of uses that are alike: [uses, buckets]
--   uses     their number: judged as one after the other, so that as many are let through as every bucket holds
--   buckets  [index of its key, bucket, limit, capacity, start of the window in ms as text (0: minute), need, take] for
--            each; those of a key stand together
--     need   what has to be left for each use; 0: nothing is tested
--     take   what each use takes; below 0 it gives back, where the window is still the same
--
-- Returns JSON, per group: [number of uses let through, what is left of each bucket behind them]
local now = tonumber(ARGV[1])
local answer = {}
for _, group in ipairs(cjson.decode(ARGV[3])) do
  local granted, buckets = group[1], group[2]
  local scopes = {}
  for _, bucket in ipairs(buckets) do
    local key = KEYS[bucket[1]]
    local scope = scopes[#scopes]
    if not scope or scope.key ~= key then
      scope = { key = key, buckets = {}, fields = {} }
      scopes[#scopes + 1] = scope
    end
    local fields = scope.fields
    local name, start = bucket[2], bucket[5]
    if start == "0" then
      fields[#fields + 1] = "tokens"
      fields[#fields + 1] = "at"
    else
      fields[#fields + 1] = name
      fields[#fields + 1] = name .. ":start"
    end
    scope.buckets[#scope.buckets + 1] =
      { name = name, limit = bucket[3], capacity = bucket[4], start = start, need = bucket[6], take = bucket[7] }
  end
  for _, scope in ipairs(scopes) do
    local stored = redis.call("HMGET", scope.key, unpack(scope.fields))
    for place, bucket in ipairs(scope.buckets) do
      local value, since = stored[2 * place - 1], stored[2 * place]
      if bucket.start == "0" then
        local passed = math.max(0, now - (tonumber(since) or now))
        bucket.left = math.min(bucket.capacity, (tonumber(value) or bucket.capacity) + passed * bucket.limit / 60000)
        -- A node whose clock is behind must not have time pass twice.
        bucket.at = string.format("%.0f", math.max(now, tonumber(since) or now))
      else
        bucket.used = since == bucket.start and tonumber(value) or 0
        if since and since ~= bucket.start and tonumber(since) > tonumber(bucket.start) then
          -- Another node has begun the next window: its count stands.
          bucket.start, bucket.used = since, tonumber(value)
          bucket.isLater = true
        end
        bucket.left = bucket.limit - bucket.used
      end
      if bucket.need > 0 then
        if bucket.left < bucket.need then
          granted = 0
        elseif bucket.take > 0 then
          granted = math.min(granted, math.floor((bucket.left - bucket.need) / bucket.take) + 1)
        end
      end
    end
  end
  local result = { granted }
  answer[#answer + 1] = result
  for _, scope in ipairs(scopes) do
    local changes = {}
    for _, bucket in ipairs(scope.buckets) do
      local debit = granted * bucket.take
      if debit ~= 0 and not (debit < 0 and bucket.isLater) then
        bucket.left = math.min(bucket.capacity, bucket.left - debit)
        local isMinute = bucket.start == "0"
        changes[#changes + 1] = isMinute and "tokens" or bucket.name
        changes[#changes + 1] = isMinute and tostring(bucket.left)
          or string.format("%.0f", math.max(0, bucket.used + debit))
        changes[#changes + 1] = isMinute and "at" or bucket.name .. ":start"
        changes[#changes + 1] = isMinute and bucket.at or bucket.start
      end
      result[#result + 1] = bucket.left
    end
    if #changes > 0 then
      redis.call("HSET", scope.key, unpack(changes))
      redis.call("PEXPIRE", scope.key, ARGV[2])
    end
  end
end
return cjson.encode(answer)
