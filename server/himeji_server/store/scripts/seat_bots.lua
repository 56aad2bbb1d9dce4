-- Seats bots of a queue together, all of them or none.
--
-- KEYS  tickets (hash), load (hash), seated (hash), deadlines (sorted set), pairs of the day (hash)
-- ARGV  answer_within  milliseconds until the bots must have answered
--       pair_cap       how often two bots may be seated together on one day
--       pairs_expire   seconds after which the pairs of a day are forgotten
--       6...           bot and ticket id of each seat
--
-- Returns {"ok"}, {"gone", bot}, {"full", bot} or {"capped", one bot, other bot}.
local tickets_key, load_key, seated_key, deadlines_key, pairs_key = unpack(KEYS)
local game_id, answer_within, pair_cap, pairs_expire, day = unpack(ARGV, 1, 5)

if redis.call('HEXISTS', seated_key, game_id) == 1 then return {'ok'} end
local bots, tickets = {}, {}
for i = 6, #ARGV, 2 do
  local bot, ticket_id = ARGV[i], ARGV[i + 1]
  local text = redis.call('HGET', tickets_key, bot)
  local ticket = text and cjson.decode(text)
  if not ticket or ticket.id ~= ticket_id then return {'gone', bot} end
  local load = tonumber(redis.call('HGET', load_key, bot) or 0)
  if load >= ticket.max_games then return {'full', bot} end
  bots[#bots + 1], tickets[#tickets + 1] = bot, ticket
end
local met = {}
for one = 1, #bots do
  for other = one + 1, #bots do
    local a, b = math.min(one, other), math.max(one, other)
    if bots[b] < bots[a] then a, b = b, a end
    local free = string.sub(bots[a], 1, 6) == 'house/' or string.sub(bots[b], 1, 6) == 'house/'
    local pair = bots[a] .. ' ' .. bots[b]
    local count = tonumber(redis.call('HGET', pairs_key, pair) or 0)
    if not free and count >= tonumber(pair_cap) then return {'capped', bots[a], bots[b]} end
    met[#met + 1] = pair
  end
end
for _, pair in ipairs(met) do redis.call('HINCRBY', pairs_key, pair, 1) end
if #met > 0 then redis.call('EXPIRE', pairs_key, pairs_expire) end
local record = { day = day, bots = {}, met = met }
for i, bot in ipairs(bots) do
  tickets[i].seatings = tickets[i].seatings + 1
  redis.call('HSET', tickets_key, bot, cjson.encode(tickets[i]))
  redis.call('HINCRBY', load_key, bot, 1)
  record.bots[i] = { bot = bot, ticket = tickets[i].id }
end
redis.call('HSET', seated_key, game_id, cjson.encode(record))
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', deadlines_key, now + tonumber(answer_within), game_id)
return {'ok'}
