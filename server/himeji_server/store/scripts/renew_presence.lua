-- Renews the presence of a stream, unless another stream of the bot has taken over.
--
-- KEYS  1 the bot's stream (string)
-- ARGV  1 stream  2 seconds until it fades
--
-- Answers the stream that the bot has.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return holder end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return ARGV[1]
