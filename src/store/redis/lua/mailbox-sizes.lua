-- How full mailboxes are.
--
-- KEYS     the streams
-- ARGV[1]  entries from which on the memory of a stream is asked for
--
-- Returns for each its entries and the bytes that it takes, about; 0 bytes for one with fewer entries
local sizes = {}
for _, key in ipairs(KEYS) do
  local length = redis.pcall("XLEN", key)
  if type(length) ~= "number" then length = 0 end
  local bytes = 0
  if length >= tonumber(ARGV[1]) then bytes = redis.call("MEMORY", "USAGE", key) or 0 end
  sizes[#sizes + 1] = length
  sizes[#sizes + 1] = bytes
end
return sizes
