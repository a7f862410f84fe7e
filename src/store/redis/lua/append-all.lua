-- Appends messages to a mailbox, all or none, in their order.
--
-- KEYS[1]  the stream
-- ARGV     the messages
--
-- Returns their number
for _, text in ipairs(ARGV) do
  redis.call("XADD", KEYS[1], "*", "m", text)
end
return #ARGV
