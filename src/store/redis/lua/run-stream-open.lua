-- Begins the stream of a run's events, or begins it anew where it was begun by an earlier filling.
-- KEYS: what is known of it, entries of the run's log, progress.
-- ARGV: the number of the filling, the number above which new events are numbered, seconds that it is kept,
-- then entry and number of each that has one already, by numbers.
local filling = tonumber(ARGV[1])
local known = tonumber(redis.call('HGET', KEYS[1], 'filling') or '-1')
if known >= filling then return 0 end
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
local entries = 0
local last = tonumber(ARGV[2])
for at = 4, #ARGV, 2 do
  redis.call('XADD', KEYS[2], ARGV[at + 1] .. '-0', 's', ARGV[at])
  entries = tonumber(ARGV[at])
  last = math.max(last, tonumber(ARGV[at + 1]))
end
redis.call('HSET', KEYS[1], 'filling', ARGV[1], 'last', string.format('%.0f', last), 'entries', entries)
for at = 1, 3 do redis.call('EXPIRE', KEYS[at], ARGV[3]) end
return 1
