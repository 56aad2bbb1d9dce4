-- Included by scripts that change what the index of games (game_index.py) says about a game.
--
-- changes  seven bytes each: "+" or "-", and the term whose entry is added or removed
-- created  the time of the game's creation, which is in every entry
local function change_index(index_key, changes, created, game_id)
  for i = 1, #changes, 7 do
    local entry = string.sub(changes, i + 1, i + 6) .. struct.pack('>I6', created) .. game_id
    if string.sub(changes, i, i) == '+' then
      redis.call('ZADD', index_key, 0, entry)
    else
      redis.call('ZREM', index_key, entry)
    end
  end
end
