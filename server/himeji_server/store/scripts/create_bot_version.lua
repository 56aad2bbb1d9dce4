-- Creates the next version of a bot, once.
--
-- KEYS  bot (hash), versions (list), the version that this request created (string),
--       how many versions of the owner's bots this script created (string)
-- ARGV  max_versions: how many a bot may have; max_all: how many all bots of the owner may have;
--       seconds: how long the request is remembered
--
-- Returns {"ok", number}, {"missing"}, {"retired"}, {"limit"} or {"all"} (the limit of the owner).
local bot_key, versions_key, created_key, count_key = unpack(KEYS)
local label, max_versions, max_all, seconds = unpack(ARGV)

local created = redis.call('GET', created_key)
if created then return {'ok', tonumber(created)} end
local newest, retired = unpack(redis.call('HMGET', bot_key, 'newest', 'retired'))
if not newest then return {'missing'} end
if retired then return {'retired'} end
if tonumber(newest) >= tonumber(max_versions) then return {'limit'} end
if tonumber(redis.call('GET', count_key) or 0) >= tonumber(max_all) then return {'all'} end
redis.call('INCR', count_key)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local number = redis.call('RPUSH', versions_key, now .. ' ' .. newest .. ' ' .. label)
redis.call('HSET', bot_key, 'newest', number)
redis.call('SET', created_key, number, 'EX', seconds)
return {'ok', number}
