-- Counts an illegal answer to the open decision, unless the game has moved on. The same answer again
-- is a retry and does not count again.
--
-- KEYS  game (hash), timers (sorted set)
-- ARGV  answer: a digest of the answer, without spaces; limit: strikes that lose the seat
--
-- Returns the strikes of the seat, or -1. At the limit a timer is due at once, so that the seat is
-- lost even if the process that counted is gone.
local game_key, timers_key = unpack(KEYS)
local game_id, decision, seat, answer, limit = unpack(ARGV)

local state, open_decision, asked_seat, struck_before, strikes_before = unpack(
  redis.call('HMGET', game_key, 'state', 'decision', 'seat', 'struck', 'strikes' .. seat))
if state ~= 'playing' or open_decision ~= decision or asked_seat ~= seat then return -1 end
local struck = decision .. ' ' -- the open decision and the illegal answers that it got
if struck_before and string.sub(struck_before, 1, #struck) == struck then struck = struck_before end
if string.find(struck, ' ' .. answer .. ' ', 1, true) then return tonumber(strikes_before) end
redis.call('HSET', game_key, 'struck', struck .. answer .. ' ')
local strikes = redis.call('HINCRBY', game_key, 'strikes' .. seat, 1)
if strikes >= tonumber(limit) then
  local time = redis.call('TIME')
  redis.call('ZADD', timers_key, time[1] * 1000 + math.floor(time[2] / 1000), game_id)
end
return strikes
