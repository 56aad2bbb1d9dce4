"""Long-running programs that test or measure an arena. `pytest` does not collect them.

Each is started by a target of the Makefile, which sets up what it needs; options go into ARGS,
as in `make chaos ARGS="--rounds 1"`. The times are those of the standard options on two cores.

program          make target     takes   what it does
bench            bench           2 min   measures the engine and the server; asserts nothing
chaos            chaos           3 min   kills servers and Redis while bots play, checks the logs
chaos            cluster-test    long    check_cluster.py does the same to a Redis Cluster; then all
                                         tests of the server run on one
ladder_chaos     ladder-battle   2 min   kills servers while a ladder is played, checks ratings
ladder_sim       ladder-sim      8 min   measures how fast ratings converge, in simulated time
rolling_restart  rolling-test    2 min   restarts servers behind HAProxy while bots play
siege            siege           6 min   attacks an arena while honest clients use it, with controls
browser          test-browser    2 min   check_page.py uses the web page in Chromium
browser          screenshots     1 min   screenshots.py takes the screenshots of docs/images
cpp              test-languages  2 min   check_cpp.py builds the C++ example bot and plays
fresh_clone      fresh-test      long    runs `make test` in a new clone, as a new user

Files called check_*.py are pytest files that need packages of Debian or much time, so their name
keeps them out of `make test`; their target passes them to pytest by path. `debian_packages` checks
for those packages. Short forms of chaos, ladder_chaos and ladder_sim are part of `make test`
(tests/server/test_kill.py, tests/server/test_ladder_chaos.py, tests/ladder/test_convergence.py).
Load tests are a package of their own, loadtest/ (docs/load.md).
"""
