"""Running a bot online: one Play stream, many games, threads for the bot.

run                   the public `run`: its bot's name, the games it creates
runner                what to do about each message of the arena and each choice of the bot
job_loop              the queue of jobs that the runner's only thread works through
reconnecting_stream   opens a new `stream` whenever one breaks
game_session          one game: mirror, open decision, unconfirmed answer
bot_threads           asks the bot in threads, and reports what takes too long
ladder_queues         which queues the bot is in
"""
