-- Renews the presence of a stream, unless another stream of the bot has taken over.
--
-- KEYS  the bot's stream (string)
--
-- Returns the stream that the bot has.
local presence_key = KEYS[1]
local stream, seconds = unpack(ARGV)

local holder = redis.call('GET', presence_key)
if holder and holder ~= stream then return holder end
redis.call('SET', presence_key, stream, 'EX', seconds)
return stream
