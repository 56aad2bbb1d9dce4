-- Ends a token; the first time counts.
--
-- KEYS  1 token (hash)  2 live tokens (sorted set)
-- ARGV  1 token id  2 bell's channel
--
-- Answers "ok" or "missing".
if redis.call('EXISTS', KEYS[1]) == 0 then return 'missing' end
local time = redis.call('TIME')
redis.call('HSETNX', KEYS[1], 'revoked', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('PUBLISH', ARGV[2], ARGV[1])
return 'ok'
