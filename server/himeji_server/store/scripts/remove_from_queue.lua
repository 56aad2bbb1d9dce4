-- Removes a bot from the queue of a ladder by a call of its owner, and notes that for its client.
--
-- KEYS  tickets (hash), removed bots (hash): the entry id of the ticket that was removed
--
-- Returns 1, or 0 if the bot was not in the queue; what an earlier removal noted stays then.
local tickets_key, removed_key = unpack(KEYS)
local bot = ARGV[1]

local ticket = redis.call('HGET', tickets_key, bot)
if not ticket then
  redis.call('HSETNX', removed_key, bot, '')
  return 0
end
redis.call('HSET', removed_key, bot, cjson.decode(ticket).entry or '')
redis.call('HDEL', tickets_key, bot)
return 1
