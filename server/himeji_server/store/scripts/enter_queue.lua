-- Puts a bot into the queue of a ladder, or keeps it at its place there.
--
-- KEYS  1 tickets (hash)  2 bots that were taken out (set)
-- ARGV  1 bot  2 id for a new ticket  3 bot version  4 games at once
--       5 "again" if the bot only says again what it said before, else ""
--
-- Answers the ticket, or nothing if the bot was taken out since it said so before.
if ARGV[5] == 'again' and redis.call('SISMEMBER', KEYS[2], ARGV[1]) == 1 then return false end
redis.call('SREM', KEYS[2], ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local before = redis.call('HGET', KEYS[1], ARGV[1])
local ticket = before and cjson.decode(before)
  or { id = ARGV[2], entered = now, since = now, seatings = 0 }
ticket.version, ticket.most = tonumber(ARGV[3]), tonumber(ARGV[4])
local text = cjson.encode(ticket)
redis.call('HSET', KEYS[1], ARGV[1], text)
return text
