-- Settles a game of a ladder once: its bots may be seated again.
--
-- KEYS  1 tickets (hash)  2 load (hash)  3 seated (hash)  4 seatings (sorted set)
--       5 pairs of the day on which it was seated (hash)
-- ARGV  1 game id  2 "over", or "failed" if it never began: nobody has then met, and everybody
--       keeps the old place  3... bots that did not answer and lose their tickets
--
-- Answers 1, or 0 if it was settled before.
local text = redis.call('HGET', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[4], ARGV[1])
if not text then return 0 end
redis.call('HDEL', KEYS[3], ARGV[1])
local record = cjson.decode(text)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local silent = {}
for i = 3, #ARGV do silent[ARGV[i]] = true end
for _, each in ipairs(record.bots) do
  if redis.call('HINCRBY', KEYS[2], each.bot, -1) <= 0 then redis.call('HDEL', KEYS[2], each.bot) end
  local found = redis.call('HGET', KEYS[1], each.bot)
  local ticket = found and cjson.decode(found)
  if ticket and ticket.id == each.ticket then
    if silent[each.bot] then
      redis.call('HDEL', KEYS[1], each.bot)
    elseif ARGV[2] == 'over' then
      ticket.since = now
      redis.call('HSET', KEYS[1], each.bot, cjson.encode(ticket))
    end
  end
end
if ARGV[2] == 'failed' then
  for _, pair in ipairs(record.met) do
    if redis.call('HEXISTS', KEYS[5], pair) == 1 then redis.call('HINCRBY', KEYS[5], pair, -1) end
  end
end
return 1
