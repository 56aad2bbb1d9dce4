-- Opens seats of a game that waits again, or says why not. Once all seats are taken the game is as
-- good as begun: the process that begins it relies on them.
--
-- KEYS  game (hash)
-- ARGV  seats: such as "0,1"; channel: the prefix of the subscribers' channels
--
-- Returns "ok", "full", "missing" or "state".
local game_key = KEYS[1]
local game_id, seats, bot, channel = unpack(ARGV)

local state, seat_count, subscribers =
  unpack(redis.call('HMGET', game_key, 'state', 'seats', 'subscribers'))
if not state then return 'missing' end
if state ~= 'waiting' then return 'state' end
local open = 0
for seat = 0, tonumber(seat_count) - 1 do
  if redis.call('HEXISTS', game_key, 'bot' .. seat) == 0 then open = open + 1 end
end
if open == 0 then return 'full' end
for seat in string.gmatch(seats, '%d+') do
  if redis.call('HGET', game_key, 'bot' .. seat) == bot then
    redis.call('HDEL', game_key, 'bot' .. seat, 'botversion' .. seat, 'entropy' .. seat)
    redis.call('HSET', game_key, 'givenup' .. seat, bot)
  end
end
notify(subscribers, channel, game_id .. ' 0', '')
return 'ok'
