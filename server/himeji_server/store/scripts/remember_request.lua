-- Stores the plan of a request of an owner, unless there is one of the same request already. Of more
-- than max_requests, and after so many seconds, the oldest plans are forgotten.
--
-- KEYS  plans (hash), the times at which they were stored (sorted set)
-- ARGV  request: its idempotency key
--
-- Returns the plan that is stored: that of the first request.
local plans_key, times_key = unpack(KEYS)
local request, plan, max_requests, seconds = unpack(ARGV)

local function forget(requests)
  if #requests == 0 then return end
  redis.call('HDEL', plans_key, unpack(requests))
  redis.call('ZREM', times_key, unpack(requests))
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local oldest = now - seconds * 1000
-- A few at a time: a request adds one plan at most, so that they cannot pile up.
forget(redis.call('ZRANGEBYSCORE', times_key, '-inf', oldest, 'LIMIT', 0, 100))
local stored = redis.call('ZSCORE', times_key, request)
if stored and tonumber(stored) > oldest then return redis.call('HGET', plans_key, request) end
local excess = redis.call('ZCARD', times_key) + 1 - max_requests
if excess > 0 then forget(redis.call('ZRANGE', times_key, 0, math.min(excess, 100) - 1)) end
redis.call('HSET', plans_key, request, plan)
redis.call('ZADD', times_key, now, request)
redis.call('EXPIRE', plans_key, seconds)
redis.call('EXPIRE', times_key, seconds)
return plan
