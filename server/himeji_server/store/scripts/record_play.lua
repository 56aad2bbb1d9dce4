-- Records that an owner plays, unless it is deleted or about to be.
--
-- KEYS  owner (hash)
--
-- Returns 1, or 0 if there is no such owner.
local owner_key = KEYS[1]

local created, deleting = unpack(redis.call('HMGET', owner_key, 'created', 'deleting'))
if not created or deleting then return 0 end
redis.call('HSET', owner_key, 'played', '1')
return 1
