-- Opens seats of a game that waits again, or says why not. Once all seats are taken the game is as
-- good as begun: the process that begins it relies on them.
--
-- KEYS  game (hash), index (sorted set)
-- ARGV  seats: such as "0,1"; channel: the prefix of the subscribers' channels; bot_gone, owner_gone:
--       the changes of the index if the bot, and if its owner, has no seat any more
--
-- Returns "ok", "full", "missing" or "state".
local game_key, game_index_key = unpack(KEYS)
local game_id, seats, bot, channel, bot_gone, owner_gone = unpack(ARGV)

local state, seat_count, created, subscribers =
  unpack(redis.call('HMGET', game_key, 'state', 'seats', 'created', 'subscribers'))
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
local owner = string.match(bot, '^[^/]*/')
for seat = 0, tonumber(seat_count) - 1 do
  local held = redis.call('HGET', game_key, 'bot' .. seat) or ''
  if held == bot then bot_gone = '' end
  if string.sub(held, 1, #owner) == owner then owner_gone = '' end
end
change_index(game_index_key, bot_gone .. owner_gone, created, game_id)
notify(subscribers, channel, game_id .. ' 0', '')
return 'ok'
