-- Ends the presence of a stream, or a lease; one that another has taken over stays.
--
-- KEYS  1 the bot's stream, or the lease (string)
-- ARGV  1 stream, or holder
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
