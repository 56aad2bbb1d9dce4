-- Opens seats of a game that waits again, or says why not. Once all seats are taken the game is as
-- good as begun, and whoever begins it relies on them.
--
-- KEYS  1 game (hash)
-- ARGV  1 game id  2 seats, such as "0,1"  3 bot  4 bells' channel
--
-- Answers "ok", "full", "missing", or the state that is not "waiting".
local game = redis.call('HMGET', KEYS[1], 'state', 'seats', 'ears')
if not game[1] then return 'missing' end
if game[1] ~= 'waiting' then return game[1] end
local open = 0
for seat = 0, tonumber(game[2]) - 1 do
  if redis.call('HEXISTS', KEYS[1], 'bot' .. seat) == 0 then open = open + 1 end
end
if open == 0 then return 'full' end
for seat in string.gmatch(ARGV[2], '%d+') do
  if redis.call('HGET', KEYS[1], 'bot' .. seat) == ARGV[3] then
    redis.call('HDEL', KEYS[1], 'bot' .. seat, 'botversion' .. seat, 'entropy' .. seat)
  end
end
notify(game[3], ARGV[4], ARGV[1] .. ' 0', '')
return 'ok'
