-- Adds an entry to the audit log, once per mark.
--
-- KEYS  1 head (hash)  2 log (stream)  3 marks (hash)
-- ARGV  1 expected sequence  2 mark, "" for none  3 entry  4 new link
--
-- Answers {"ok", sequence}, {"again", sequence} or {"conflict"}.
if ARGV[2] ~= '' then
  local before = redis.call('HGET', KEYS[3], ARGV[2])
  if before then return {'again', tonumber(before)} end
end
if (redis.call('HGET', KEYS[1], 'sequence') or '0') ~= ARGV[1] then return {'conflict'} end
local sequence = tonumber(ARGV[1]) + 1
redis.call('XADD', KEYS[2], sequence .. '-0', 'e', ARGV[3], 'c', ARGV[4])
redis.call('HSET', KEYS[1], 'sequence', sequence, 'chain', ARGV[4])
if ARGV[2] ~= '' then redis.call('HSET', KEYS[3], ARGV[2], sequence) end
return {'ok', sequence}
