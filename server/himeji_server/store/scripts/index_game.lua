-- Adds a game that has no entries to the index, or says that it has changed.
--
-- KEYS  game (hash), index (sorted set)
-- ARGV  state, bots: what index_changes (see index.lua) follow from; bots separated by spaces
--
-- Returns 1, or 0 if the game has changed since.
local game_key, game_index_key = unpack(KEYS)
local game_id, state, bots, index_changes = unpack(ARGV)

local found, created, seat_count = unpack(redis.call('HMGET', game_key, 'state', 'created', 'seats'))
local held = {}
for seat = 0, tonumber(seat_count) - 1 do
  held[#held + 1] = redis.call('HGET', game_key, 'bot' .. seat) or nil
end
if found ~= state or table.concat(held, ' ') ~= bots then return 0 end
change_index(game_index_key, index_changes, created, game_id)
return 1
