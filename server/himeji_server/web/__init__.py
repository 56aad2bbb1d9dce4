"""The arena page: watch games, read the ladder, study a replay, take a seat."""
