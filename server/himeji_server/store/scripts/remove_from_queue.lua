-- Removes a bot from the queue of a ladder by a call of its owner, and notes that for its client.
--
-- KEYS  tickets (hash), removal (string): the entry id of the ticket that was removed
-- ARGV  seconds: how long the removal is remembered
--
-- Returns 1, or 0 if the bot was not in the queue; what an earlier removal noted stays then.
local tickets_key, removal_key = unpack(KEYS)
local bot, seconds = unpack(ARGV)

local ticket = redis.call('HGET', tickets_key, bot)
if not ticket then
  redis.call('SET', removal_key, '', 'NX')
  redis.call('EXPIRE', removal_key, seconds)
  return 0
end
redis.call('SET', removal_key, cjson.decode(ticket).entry or '', 'EX', seconds)
redis.call('HDEL', tickets_key, bot)
return 1
