-- Ends the presence of a stream; one that was taken over has nothing to end.
--
-- KEYS  1 the bot's stream (string)
-- ARGV  1 stream
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
