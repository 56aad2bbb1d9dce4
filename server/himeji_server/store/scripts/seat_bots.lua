-- Seats bots of a queue together, all of them or none.
--
-- KEYS  1 tickets (hash)  2 load (hash)  3 seated (hash)  4 seatings (sorted set)
--       5 pairs of the day (hash)
-- ARGV  1 game id  2 milliseconds until the seats must have answered  3 most games of a pair a day
--       4 how long pairs are counted, in s  5 the day  6... bot and ticket id of each seat
--
-- Answers {"ok"}, {"gone", bot}, {"full", bot} or {"capped", one bot, other bot}.
if redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return {'ok'} end
local bots, tickets = {}, {}
for i = 6, #ARGV, 2 do
  local bot, text = ARGV[i], redis.call('HGET', KEYS[1], ARGV[i])
  local ticket = text and cjson.decode(text)
  if not ticket or ticket.id ~= ARGV[i + 1] then return {'gone', bot} end
  if tonumber(redis.call('HGET', KEYS[2], bot) or 0) >= ticket.most then return {'full', bot} end
  bots[#bots + 1], tickets[#tickets + 1] = bot, ticket
end
local met = {}
for one = 1, #bots do
  for other = one + 1, #bots do
    local a, b = math.min(one, other), math.max(one, other)
    if bots[b] < bots[a] then a, b = b, a end
    local free = string.sub(bots[a], 1, 6) == 'house/' or string.sub(bots[b], 1, 6) == 'house/'
    local pair = bots[a] .. ' ' .. bots[b]
    local count = tonumber(redis.call('HGET', KEYS[5], pair) or 0)
    if not free and count >= tonumber(ARGV[3]) then return {'capped', bots[a], bots[b]} end
    met[#met + 1] = pair
  end
end
for _, pair in ipairs(met) do redis.call('HINCRBY', KEYS[5], pair, 1) end
if #met > 0 then redis.call('EXPIRE', KEYS[5], ARGV[4]) end
local record = { day = ARGV[5], bots = {}, met = met }
for i, bot in ipairs(bots) do
  tickets[i].seatings = tickets[i].seatings + 1
  redis.call('HSET', KEYS[1], bot, cjson.encode(tickets[i]))
  redis.call('HINCRBY', KEYS[2], bot, 1)
  record.bots[i] = { bot = bot, ticket = tickets[i].id }
end
redis.call('HSET', KEYS[3], ARGV[1], cjson.encode(record))
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[4], now + tonumber(ARGV[2]), ARGV[1])
return {'ok'}
