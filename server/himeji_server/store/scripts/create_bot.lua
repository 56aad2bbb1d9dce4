-- Creates a bot with its first version, once.
--
-- KEYS  owner (hash), bots (sorted set), active bots (set), bot (hash), versions (list)
-- ARGV  mark: the request; max_active: limit of active bots; max_all: limit with retired ones
--
-- Returns "ok", "no owner", "exists", "active" or "all" (the limit that is reached).
local owner_key, bots_key, active_key, bot_key, versions_key = unpack(KEYS)
local mark, short_name, description, label, max_active, max_all = unpack(ARGV)

local created, deleting = unpack(redis.call('HMGET', owner_key, 'created', 'deleting'))
if not created or deleting then return 'no owner' end
local mark_before = redis.call('HGET', bot_key, 'mark')
if mark_before then return mark_before == mark and 'ok' or 'exists' end
if redis.call('SCARD', active_key) >= tonumber(max_active) then return 'active' end
if redis.call('ZCARD', bots_key) >= tonumber(max_all) then return 'all' end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', bot_key, 'mark', mark, 'description', description, 'created', now, 'newest', 1)
redis.call('RPUSH', versions_key, now .. ' 0 ' .. label)
redis.call('ZADD', bots_key, 0, short_name)
redis.call('SADD', active_key, short_name)
return 'ok'
