-- Gives a bot a seat in a game that waits, or says why not.
--
-- KEYS  game (hash), timers (sorted set), index (sorted set)
-- ARGV  seats          the seats to try, in this order, such as "0,1"
--       request_id     "" for none
--       channel        the prefix of the subscribers' channels
--       index_changes  see index.lua
--
-- Returns {"ok", seat}, {"repeated", seat}, {"taken"}, {"state"} or {"missing"}.
local game_key, timers_key, game_index_key = unpack(KEYS)
local game_id, seats, bot, bot_version, entropy, request_id, channel, index_changes = unpack(ARGV)

local state, seat_count, created, subscribers =
  unpack(redis.call('HMGET', game_key, 'state', 'seats', 'created', 'subscribers'))
if not state then return {'missing'} end
if request_id ~= '' then
  local before = redis.call('HGET', game_key, 'request:' .. request_id)
  if before then return {'repeated', tonumber(before)} end
end
if state ~= 'waiting' then return {'state'} end
local chosen = nil
for seat in string.gmatch(seats, '%d+') do
  if redis.call('HEXISTS', game_key, 'bot' .. seat) == 0 then
    chosen = seat
    break
  end
end
if not chosen then return {'taken'} end
redis.call('HSET', game_key, 'bot' .. chosen, bot, 'botversion' .. chosen, bot_version,
  'entropy' .. chosen, entropy)
change_index(game_index_key, index_changes, created, game_id)
if request_id ~= '' then redis.call('HSET', game_key, 'request:' .. request_id, chosen) end
local open = 0
for seat = 0, tonumber(seat_count) - 1 do
  if redis.call('HEXISTS', game_key, 'bot' .. seat) == 0 then open = open + 1 end
end
if open == 0 then
  local time = redis.call('TIME')
  redis.call('ZADD', timers_key, time[1] * 1000 + math.floor(time[2] / 1000), game_id)
end
-- The version does not change, so 0 stands for "load it again", also at the process that called.
notify(subscribers, channel, game_id .. ' 0', '')
return {'ok', tonumber(chosen)}
