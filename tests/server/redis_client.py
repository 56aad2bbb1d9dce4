"""A plain client of the store's Redis, for tests that look behind the arena."""

import redis


def raw_client(url, **options):
    """A client of the Redis behind a URL, or of the cluster that it belongs to."""
    client = redis.Redis.from_url(url, **options)
    if not client.info("cluster")["cluster_enabled"]:
        return client
    client.close()
    return redis.RedisCluster.from_url(url, **options)
