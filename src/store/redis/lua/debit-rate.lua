-- Tests uses against all of their buckets; each debits all of them, or none.
--
-- KEYS[n]  of a resource and a scope, ten doubles: the tokens of its minute and their moment; the counts of the hour, the
--          day, the week and the month; the moments where these windows began
-- ARGV[1]  Unix ms
-- ARGV[2]  ms after which an unused key expires
-- ARGV[3]  JSON: [starts, group, …]
--   starts   where the four windows of now began, Unix ms
--   group    [uses, starts, scope, …]: uses that are alike
--     uses   their number: judged as one after the other, so that as many are let through as every bucket holds
--     starts of the windows that are meant; 0: those of now
--     scope  [index of its key, need, take, capacity, limit, …]: limits of the minute and of the four windows, or of the
--            minute alone; -1: none, counted but for the minute
--       need what has to be left for each use; 0: nothing is tested
--       take what each use takes; below 0 it gives back, where the window is still the same
--
-- Returns JSON, one list: per group the number of uses let through, then what is left of each bucket behind them
local layout = "<dddddddddd"
local now = tonumber(ARGV[1])
local input = cjson.decode(ARGV[3])
local answer, length = {}, 0

local function fitting(granted, left, need, take)
  if left < need then
    return 0
  end
  if take > 0 then
    local fit = math.floor((left - need) / take) + 1
    if fit < granted then
      return fit
    end
  end
  return granted
end

for place = 2, #input do
  local group = input[place]
  local granted, starts = group[1], group[2]
  if starts == 0 then
    starts = input[1]
  end
  local states = {}
  for index = 3, #group do
    local scope = group[index]
    local need, take, capacity, limit = scope[2], scope[3], scope[4], scope[5]
    local stored = redis.call("GET", KEYS[scope[1]])
    local state = stored and { struct.unpack(layout, stored) } or { capacity, now, 0, 0, 0, 0, 0, 0, 0, 0 }
    states[index] = state
    if limit < 0 then
      -- Where it is limited once more, it begins full.
      state[1], state[2] = 0, 0
    else
      -- A node whose clock is behind must not have time pass twice.
      local passed = now - state[2]
      if passed > 0 then
        state[1], state[2] = state[1] + passed * limit / 60000, now
      end
      if state[1] > capacity then
        state[1] = capacity
      end
      if need > 0 then
        granted = fitting(granted, state[1], need, take)
      end
    end
    for window = 1, #scope - 5 do
      -- What another node has begun later stands.
      if state[6 + window] < starts[window] then
        state[2 + window], state[6 + window] = 0, starts[window]
      end
      limit = scope[5 + window]
      if need > 0 and limit >= 0 then
        granted = fitting(granted, limit - state[2 + window], need, take)
      end
    end
  end
  length = length + 1
  answer[length] = granted
  for index = 3, #group do
    local scope, state = group[index], states[index]
    local capacity, debit = scope[4], granted * scope[3]
    if debit ~= 0 then
      if scope[5] >= 0 then
        state[1] = math.min(capacity, state[1] - debit)
      end
      for window = 1, #scope - 5 do
        if debit > 0 or state[6 + window] == starts[window] then
          state[2 + window] = math.max(0, state[2 + window] + debit)
        end
      end
      redis.call("SET", KEYS[scope[1]], struct.pack(layout, unpack(state, 1, 10)), "PX", ARGV[2])
    end
    answer[length + 1] = state[1]
    for window = 1, #scope - 5 do
      answer[length + 1 + window] = scope[5 + window] - state[2 + window]
    end
    length = length + #scope - 4
  end
end
return cjson.encode(answer)
