-- Creates a bot with its first version, once.
--
-- KEYS  1 bots (sorted set)  2 active bots (set)  3 bot (hash)  4 versions (list)
-- ARGV  1 mark of the request  2 short name  3 description  4 label of the first version
--       5 how many active bots there may be  6 how many with the retired ones
--
-- Answers "ok", "exists", "active" or "all" (the limit that is reached).
local mark = redis.call('HGET', KEYS[3], 'mark')
if mark then return mark == ARGV[1] and 'ok' or 'exists' end
if redis.call('SCARD', KEYS[2]) >= tonumber(ARGV[5]) then return 'active' end
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[6]) then return 'all' end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[3], 'mark', ARGV[1], 'description', ARGV[3], 'created', now, 'newest', 1)
redis.call('RPUSH', KEYS[4], now .. ' 0 ' .. ARGV[4])
redis.call('ZADD', KEYS[1], 0, ARGV[2])
redis.call('SADD', KEYS[2], ARGV[2])
return 'ok'
