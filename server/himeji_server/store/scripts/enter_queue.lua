-- Puts a bot into the queue of a ladder; one that is there keeps its place.
--
-- KEYS  tickets (hash), removal (string), see remove_from_queue.lua
-- ARGV  new_id: for a new ticket; max_games: how many games the bot plays at once;
--       again: "again" if the client only repeats an earlier request, else "";
--       entry_id: of the request and its repetitions, "" if the client gives none
--
-- Returns the ticket, or nil if the bot was removed since the request that is repeated.
local tickets_key, removal_key = unpack(KEYS)
local bot, new_id, bot_version, max_games, again, entry_id = unpack(ARGV)

local removed = redis.call('GET', removal_key)
if removed and (again == 'again' or (entry_id ~= '' and entry_id == removed)) then return false end
redis.call('DEL', removal_key)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local before = redis.call('HGET', tickets_key, bot)
local ticket = before and cjson.decode(before)
  or { id = new_id, entered = now, since = now, seatings = 0 }
ticket.version, ticket.max_games = tonumber(bot_version), tonumber(max_games)
ticket.entry = entry_id
local text = cjson.encode(ticket)
redis.call('HSET', tickets_key, bot, text)
return text
