-- Ends a game whose log was lost in part. Nothing about the log can be relied on but its last id.
--
-- KEYS  game (hash), log (stream), timers (sorted set), outbox (stream), index (sorted set)
-- ARGV  entry: without its version and times; channel: the prefix of the subscribers' channels;
--       sender: the process that calls, which needs no notification; index_changes: see index.lua
--
-- Returns the new version, or 0 if the game is over or has changed since.
local game_key, log_key, timers_key, outbox_key, game_index_key = unpack(KEYS)
local game_id, expected_chain, new_chain, entry, result, channel, sender,
  index_changes = unpack(ARGV)

local state, version_before, chain, created, subscribers = unpack(
  redis.call('HMGET', game_key, 'state', 'version', 'chain', 'created', 'subscribers'))
if not state or state == 'over' or chain ~= expected_chain then return 0 end
local version = (tonumber(version_before) or 0) + 1
local last = redis.call('XREVRANGE', log_key, '+', '-', 'COUNT', 1)[1]
if last then version = math.max(version, tonumber(string.match(last[1], '^%d+')) + 1) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('XADD', log_key, version .. '-0', 'e',
  entry .. ' ' .. (now - tonumber(created)) .. ' 0 0 0 0')
redis.call('HSET', game_key, 'state', 'over', 'version', version, 'chain', new_chain, 'seat', -1,
  'decision', version, 'result', result, 'ended', now)
redis.call('ZREM', timers_key, game_id)
redis.call('XADD', outbox_key, '*', 'game', game_id, 'version', version)
change_index(game_index_key, index_changes, created, game_id)
notify(subscribers, channel, game_id .. ' ' .. version, sender)
return version
