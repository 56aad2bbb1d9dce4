-- Replaces all versions of a bot by the next one, so that the list of them does not grow.
--
-- KEYS  bot (hash), versions (list)
--
-- Returns the number of the version, or 0 if there is no such bot.
local bot_key, versions_key = unpack(KEYS)

local newest = redis.call('HGET', bot_key, 'newest')
if not newest then return 0 end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('DEL', versions_key)
redis.call('RPUSH', versions_key, now .. ' ' .. newest .. ' ')
return redis.call('HINCRBY', bot_key, 'newest', 1)
