"""Playing over one stream: a session per bot, many games in it."""
