-- Creates the next version of a bot, once.
--
-- KEYS  1 bot (hash)  2 versions (list)  3 what the request made (string)
-- ARGV  1 label  2 how many versions there may be  3 how long requests are remembered, in s
--
-- Answers {"ok", number}, {"missing"}, {"retired"} or {"limit"}.
local made = redis.call('GET', KEYS[3])
if made then return {'ok', tonumber(made)} end
local bot = redis.call('HMGET', KEYS[1], 'newest', 'retired')
if not bot[1] then return {'missing'} end
if bot[2] then return {'retired'} end
if tonumber(bot[1]) >= tonumber(ARGV[2]) then return {'limit'} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local number = redis.call('RPUSH', KEYS[2], now .. ' ' .. bot[1] .. ' ' .. ARGV[1])
redis.call('HSET', KEYS[1], 'newest', number)
redis.call('SET', KEYS[3], number, 'EX', ARGV[3])
return {'ok', number}
