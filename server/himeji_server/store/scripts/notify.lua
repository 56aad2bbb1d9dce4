-- Included by scripts that change a game: notifies every process that subscribed to it.
--
-- subscribers  the processes, separated by spaces, or false
-- channel      the prefix of their channels, which are in the slot of the game
-- sender       a process that needs no notification, "" for none
local function notify(subscribers, channel, message, sender)
  for process in string.gmatch(subscribers or '', '%S+') do
    if process ~= sender then redis.call('SPUBLISH', channel .. process, message) end
  end
end
