-- Counts an illegal answer to the open decision, or nothing if the game has moved on. The same answer
-- again, a retry, is not counted again.
--
-- KEYS  1 game (hash)  2 timers (sorted set)
-- ARGV  1 game id  2 decision  3 seat  4 the answer, as a word  5 strike limit
--
-- Answers the strikes of the seat, or -1. At the limit something is due at once, so that the seat
-- is lost even if the process that counted is gone.
local game = redis.call('HMGET', KEYS[1], 'state', 'decision', 'seat', 'struck', 'strikes' .. ARGV[3])
if game[1] ~= 'playing' or game[2] ~= ARGV[2] or game[3] ~= ARGV[3] then return -1 end
local struck = ARGV[2] .. ' ' -- the open decision and the illegal answers that it got
if game[4] and string.sub(game[4], 1, #struck) == struck then struck = game[4] end
if string.find(struck, ' ' .. ARGV[4] .. ' ', 1, true) then return tonumber(game[5]) end
redis.call('HSET', KEYS[1], 'struck', struck .. ARGV[4] .. ' ')
local strikes = redis.call('HINCRBY', KEYS[1], 'strikes' .. ARGV[3], 1)
if strikes >= tonumber(ARGV[5]) then
  local time = redis.call('TIME')
  redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000), ARGV[1])
end
return strikes
