-- Retires a bot; a second time changes nothing.
--
-- KEYS  bot (hash), active bots (set)
--
-- Returns 1, or 0 if there is no such bot.
local bot_key, active_key = unpack(KEYS)
local short_name = ARGV[1]

if redis.call('EXISTS', bot_key) == 0 then return 0 end
local time = redis.call('TIME')
redis.call('HSETNX', bot_key, 'retired', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('SREM', active_key, short_name)
return 1
