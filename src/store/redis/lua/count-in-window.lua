-- Counts one event of a window that begins with its first.
--
-- KEYS[1]  the counter
-- ARGV[1]  length of the window in ms
--
-- Returns { events so far, ms until the window ends }
local events = redis.call("INCR", KEYS[1])
local left = redis.call("PTTL", KEYS[1])
if left < 0 then
  left = tonumber(ARGV[1])
  redis.call("PEXPIRE", KEYS[1], left)
end
return { events, left }
