"""A rolling restart under load: arenas on one Redis Cluster, behind a balancer, one by one."""
