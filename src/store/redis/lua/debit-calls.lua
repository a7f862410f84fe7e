-- Counts calls in sliding windows. A window is kept as a hundred slices, and a slice counts for as long as any of it is
-- within the window: no window of its length ever holds more calls than its limit.
--
-- KEYS[n]  a window: a hash of slice -> calls
-- ARGV[1]  1: count; 0: only look
-- ARGV[2]  JSON: [call, ...]; a call is [window, ...], a window [index of its key, calls allowed, length in ms]
--
-- The windows of a call are tested in order, up to the first that is full; what was tested is counted, the full one too.
--
-- Returns JSON: per call [0, 0, calls left in the window that has the fewest left] or
--         [place of the full window from 1, ms until it has room again, 0]
local counting = ARGV[1] == "1"
local input = cjson.decode(ARGV[2])
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local answer = {}

for at, call in ipairs(input) do
  local result, fewest = nil, -1
  for place, window in ipairs(call) do
    local key, limit, length = KEYS[window[1]], window[2], window[3]
    local width = math.ceil(length / 100)
    local slice = math.floor(now / width)
    local oldest = math.floor((now - length) / width)
    local stored, sum, slices = redis.call("HGETALL", key), 0, {}
    for index = 1, #stored, 2 do
      local number, calls = tonumber(stored[index]), tonumber(stored[index + 1])
      if number < oldest then
        if counting then
          redis.call("HDEL", key, stored[index])
        end
      else
        sum = sum + calls
        slices[#slices + 1] = { number, calls }
      end
    end
    if counting then
      redis.call("HINCRBY", key, string.format("%.0f", slice), 1)
      redis.call("PEXPIRE", key, length + width)
    end
    if sum >= limit then
      -- Room is there once so many of the oldest have gone that one more fits.
      table.sort(slices, function(a, b) return a[1] < b[1] end)
      local left, ends = sum + (counting and 1 or 0), now
      for _, one in ipairs(slices) do
        if left < limit then
          break
        end
        left = left - one[2]
        ends = (one[1] + 1) * width + length
      end
      if left >= limit then
        ends = (slice + 1) * width + length
      end
      result = { place, math.max(1, math.ceil(ends - now)), 0 }
      break
    end
    local rest = limit - sum - (counting and 1 or 0)
    if fewest < 0 or rest < fewest then
      fewest = rest
    end
  end
  answer[at] = result or { 0, 0, fewest }
end
return cjson.encode(answer)
