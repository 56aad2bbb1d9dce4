-- Retires a bot; the first time counts.
--
-- KEYS  1 bot (hash)  2 active bots (set)
-- ARGV  1 short name
--
-- Answers "ok" or "missing".
if redis.call('EXISTS', KEYS[1]) == 0 then return 'missing' end
local time = redis.call('TIME')
redis.call('HSETNX', KEYS[1], 'retired', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('SREM', KEYS[2], ARGV[1])
return 'ok'
