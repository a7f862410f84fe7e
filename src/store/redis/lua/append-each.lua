-- Appends messages to mailboxes, in their order.
--
-- KEYS  for each message the stream
-- ARGV  the messages
--
-- Returns the failures of single streams: the place of a message, counted from 1, and its error, by turns. Anything else
-- that is refused ends the script with that error.
local failures = {}
for place, key in ipairs(KEYS) do
  local reply = redis.pcall("XADD", key, "*", "m", ARGV[place])
  if type(reply) == "table" and reply.err then
    if not (string.find(reply.err, "^WRONGTYPE ") or string.find(reply.err, "^ERR ")) then return reply end
    failures[#failures + 1] = place
    failures[#failures + 1] = reply.err
  end
end
return failures
