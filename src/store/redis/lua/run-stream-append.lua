-- Numbers events of a run, one after another, and keeps them.
-- KEYS: what is known of the stream, entries of the run's log, progress.
-- ARGV: the entry of the log up to which there are entries, or 0; seconds that all is kept; how many of progress are kept,
-- and how many bytes of their texts; then progress, each as a text. The oldest progress goes first; entries stay.
-- Returns whether it was there, and until when it is followed, Unix milliseconds.
local known = redis.call('HMGET', KEYS[1], 'entries', 'last', 'followed', 'bytes')
if not known[1] then return {0, 0} end
local entries, last = tonumber(known[1]), tonumber(known[2])
-- Nothing comes before the first entry.
if #ARGV > 4 and entries == 0 then return {0, 0} end
for entry = entries + 1, tonumber(ARGV[1]) do
  last = last + 1
  entries = entry
  redis.call('XADD', KEYS[2], string.format('%.0f-0', last), 's', entry)
end
local bytes = tonumber(known[4] or '0')
for at = 5, #ARGV do
  last = last + 1
  redis.call('XADD', KEYS[3], string.format('%.0f-0', last), 'p', ARGV[at])
  bytes = bytes + #ARGV[at]
end
local above = redis.call('XLEN', KEYS[3]) - tonumber(ARGV[3])
while above > 0 or bytes > tonumber(ARGV[4]) do
  local oldest = redis.call('XRANGE', KEYS[3], '-', '+', 'COUNT', 16)
  if #oldest == 0 then break end
  for _, row in ipairs(oldest) do
    if above <= 0 and bytes <= tonumber(ARGV[4]) then break end
    redis.call('XDEL', KEYS[3], row[1])
    above = above - 1
    bytes = bytes - #row[2][2]
  end
end
redis.call('HSET', KEYS[1], 'last', string.format('%.0f', last), 'entries', entries,
  'bytes', string.format('%.0f', bytes))
for at = 1, 3 do redis.call('EXPIRE', KEYS[at], ARGV[2]) end
return {1, known[3] or '0'}
