-- Puts a bot into the queue of a ladder; one that is there keeps its place.
--
-- KEYS  tickets (hash), removed bots (set)
-- ARGV  new_id: for a new ticket; max_games: how many games the bot plays at once;
--       again: "again" if the client only repeats an earlier request, else ""
--
-- Returns the ticket, or nil if the bot was removed since the request that is repeated.
local tickets_key, removed_key = unpack(KEYS)
local bot, new_id, bot_version, max_games, again = unpack(ARGV)

if again == 'again' and redis.call('SISMEMBER', removed_key, bot) == 1 then return false end
redis.call('SREM', removed_key, bot)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local before = redis.call('HGET', tickets_key, bot)
local ticket = before and cjson.decode(before)
  or { id = new_id, entered = now, since = now, seatings = 0 }
ticket.version, ticket.max_games = tonumber(bot_version), tonumber(max_games)
local text = cjson.encode(ticket)
redis.call('HSET', tickets_key, bot, text)
return text
