-- Begins to delete an owner that never played. From then on it creates, joins and enters nothing.
--
-- KEYS  owner (hash)
-- ARGV  mark: the request
--
-- Returns {"ok", mark} with the mark of the request that began, {"missing"} or {"played"}.
local owner_key = KEYS[1]
local mark = ARGV[1]

local created, played = unpack(redis.call('HMGET', owner_key, 'created', 'played'))
if not created then return {'missing'} end
if played then return {'played'} end
redis.call('HSETNX', owner_key, 'deleting', mark)
return {'ok', redis.call('HGET', owner_key, 'deleting')}
