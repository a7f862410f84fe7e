-- Events of a run behind a number.
-- KEYS: what is known of the stream, entries of the run's log, progress.
-- ARGV: the number, how many of each at most, until when a reader follows, Unix milliseconds.
-- Returns the number of the filling, how many entries of the log there are, entries, progress; nothing where there is none.
local known = redis.call('HMGET', KEYS[1], 'filling', 'entries', 'followed')
if not known[1] then return {} end
if tonumber(ARGV[3]) > tonumber(known[3] or '0') then redis.call('HSET', KEYS[1], 'followed', ARGV[3]) end
local from = '(' .. ARGV[1] .. '-0'
return {
  known[1],
  known[2],
  redis.call('XRANGE', KEYS[2], from, '+', 'COUNT', ARGV[2]),
  redis.call('XRANGE', KEYS[3], from, '+', 'COUNT', ARGV[2]),
}
