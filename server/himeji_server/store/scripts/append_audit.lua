-- Appends an entry to the audit log, once per mark.
--
-- KEYS  head (hash), log (stream), marks (hash)
-- ARGV  mark: "" for none; link: the hash of the entry and the link before it
--
-- Returns {"ok", sequence}, {"repeated", sequence} or {"conflict"}.
local head_key, log_key, marks_key = unpack(KEYS)
local expected_sequence, mark, entry, link = unpack(ARGV)

if mark ~= '' then
  local before = redis.call('HGET', marks_key, mark)
  if before then return {'repeated', tonumber(before)} end
end
if (redis.call('HGET', head_key, 'sequence') or '0') ~= expected_sequence then return {'conflict'} end
local sequence = tonumber(expected_sequence) + 1
redis.call('XADD', log_key, sequence .. '-0', 'e', entry, 'c', link)
redis.call('HSET', head_key, 'sequence', sequence, 'chain', link)
if mark ~= '' then redis.call('HSET', marks_key, mark, sequence) end
return {'ok', sequence}
