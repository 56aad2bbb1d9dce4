"""Kills servers and Redis while bots play, then compares the games' logs with what bots saw.

`history` records what clients sent and were told, and checks it; `clients` are the bots;
`deployment` and `cluster_deployment` are what can be killed; `scenario` plays games while
disruptions happen. Two controls plant a fault, to show that the check finds it.
"""
