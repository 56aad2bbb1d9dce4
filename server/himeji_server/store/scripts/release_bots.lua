-- Settles a game of a ladder once, so that its bots may be seated again.
--
-- KEYS  tickets (hash), load (hash), seated (hash), deadlines (sorted set),
--       pairs of the day on which it was seated (hash)
-- ARGV  outcome: "over", or "failed" if the game never began: then its pairs do not count, and
--       everybody keeps the old place in the queue; 3... bots that did not answer and lose their
--       tickets
--
-- Returns 1, or 0 if it was settled before.
local tickets_key, load_key, seated_key, deadlines_key, pairs_key = unpack(KEYS)
local game_id, outcome = unpack(ARGV, 1, 2)

local text = redis.call('HGET', seated_key, game_id)
redis.call('ZREM', deadlines_key, game_id)
if not text then return 0 end
redis.call('HDEL', seated_key, game_id)
local record = cjson.decode(text)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local silent = {}
for i = 3, #ARGV do silent[ARGV[i]] = true end
for _, each in ipairs(record.bots) do
  if redis.call('HINCRBY', load_key, each.bot, -1) <= 0 then
    redis.call('HDEL', load_key, each.bot)
  end
  local found = redis.call('HGET', tickets_key, each.bot)
  local ticket = found and cjson.decode(found)
  if ticket and ticket.id == each.ticket then
    if silent[each.bot] then
      redis.call('HDEL', tickets_key, each.bot)
    elseif outcome == 'over' then
      ticket.since = now
      redis.call('HSET', tickets_key, each.bot, cjson.encode(ticket))
    end
  end
end
if outcome == 'failed' then
  for _, pair in ipairs(record.met) do
    if redis.call('HEXISTS', pairs_key, pair) == 1 then
      redis.call('HINCRBY', pairs_key, pair, -1)
    end
  end
end
return 1
