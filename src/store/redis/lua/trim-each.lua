-- Removes the first entries of mailboxes.
--
-- KEYS  the streams
-- ARGV  for each the first id that stays
--
-- Returns their number, or the first error: that of one stream leaves the others trimmed
local failure = nil
for place, key in ipairs(KEYS) do
  local reply = redis.pcall("XTRIM", key, "MINID", ARGV[place])
  if type(reply) == "table" and reply.err and not failure then failure = reply end
end
return failure or #KEYS
