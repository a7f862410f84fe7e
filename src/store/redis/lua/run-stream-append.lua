-- Numbers events of a run, one after another, and keeps them.
-- KEYS: what is known of the stream, entries of the run's log, progress.
-- ARGV: the entry of the log up to which there are entries, or 0; seconds that all is kept; how much progress is kept;
-- then progress, each as a text.
-- Returns whether it was there, and until when it is followed, Unix milliseconds.
local known = redis.call('HMGET', KEYS[1], 'entries', 'last', 'followed')
if not known[1] then return {0, 0} end
local entries, last = tonumber(known[1]), tonumber(known[2])
-- Nothing comes before the first entry.
if #ARGV > 3 and entries == 0 then return {0, 0} end
for entry = entries + 1, tonumber(ARGV[1]) do
  last = last + 1
  entries = entry
  redis.call('XADD', KEYS[2], string.format('%.0f-0', last), 's', entry)
end
for at = 4, #ARGV do
  last = last + 1
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[3], string.format('%.0f-0', last), 'p', ARGV[at])
end
redis.call('HSET', KEYS[1], 'last', string.format('%.0f', last), 'entries', entries)
for at = 1, 3 do redis.call('EXPIRE', KEYS[at], ARGV[2]) end
return {1, known[3] or '0'}
