-- Counts the open streams of a tenant over all nodes, and says whether one more may be opened on this node.
-- KEYS: counts by node.
-- ARGV: the node, how many it has open, how many more it asks for, the most over all nodes, seconds that its count holds.
-- A node that asks for none says how many it has. Returns 1, or 0 where there would be too many.
local time = redis.call('TIME')
local now = tonumber(time[1])
local all = redis.call('HGETALL', KEYS[1])
local others = 0
for at = 1, #all, 2 do
  if all[at] ~= ARGV[1] then
    local count, held = string.match(all[at + 1], '^(%d+) (%d+)$')
    if tonumber(held) > now then others = others + count else redis.call('HDEL', KEYS[1], all[at]) end
  end
end
local own = ARGV[2] + ARGV[3]
local isFull = tonumber(ARGV[3]) > 0 and others + own > tonumber(ARGV[4])
if isFull then own = tonumber(ARGV[2]) end
if own == 0 then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f %.0f', own, now + ARGV[5]))
  redis.call('EXPIRE', KEYS[1], 2 * ARGV[5])
end
return isFull and 0 or 1
