-- Counts something in several windows of time, unless one of them is full.
--
-- KEYS  how often it was counted in each window (string); a window begins with its first count
-- ARGV  for each window: its limit, and its length in milliseconds
--
-- Returns {0}, or the number of the first window that is full and the milliseconds until it ends.
for i, window_key in ipairs(KEYS) do
  local limit = unpack(ARGV, i * 2 - 1)
  local count = tonumber(redis.call('GET', window_key) or 0)
  if count >= tonumber(limit) then return {i, redis.call('PTTL', window_key)} end
end
for i, window_key in ipairs(KEYS) do
  local length = unpack(ARGV, i * 2)
  if redis.call('INCR', window_key) == 1 then redis.call('PEXPIRE', window_key, length) end
end
return {0}
