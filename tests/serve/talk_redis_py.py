"""talk_redis_py.py - sends commands by redis-py and prints the replies, for clients.py.

    talk_redis_py.py single|cluster HOST PORT PROTOCOL

A line of the input is a JSON array of commands, each an array of arguments in hexadecimal; one
command is sent alone, several as a pipeline.  A line of the output has their replies: {"b": hex} for
bytes and status, {"e": text} for an error, {"m": [[key, value], ...]} for a map, numbers and null as
they are.
"""

import json
import sys

import redis
from redis.cluster import RedisCluster


def plain(reply):
    if isinstance(reply, bytes):
        return {"b": reply.hex()}
    if isinstance(reply, str):
        return {"b": reply.encode().hex()}
    if isinstance(reply, redis.RedisError):
        return {"e": str(reply)}
    if isinstance(reply, dict):
        return {"m": [[plain(key), plain(value)] for key, value in reply.items()]}
    if isinstance(reply, (list, tuple)):
        return [plain(one) for one in reply]
    return reply


def send(client, commands):
    if len(commands) == 1:
        try:
            return [client.execute_command(*commands[0])]
        except redis.RedisError as error:
            return [error]
    pipeline = client.pipeline() if isinstance(client, RedisCluster) else client.pipeline(transaction=False)
    for command in commands:
        pipeline.execute_command(*command)
    return pipeline.execute(raise_on_error=False)


def main():
    mode, host, port, protocol = sys.argv[1:]
    options = {} if protocol == "2" else {"protocol": int(protocol)}
    client = {"single": redis.Redis, "cluster": RedisCluster}[mode](host=host, port=int(port), **options)
    print(json.dumps(redis.__version__), flush=True)
    for line in sys.stdin:
        commands = [[bytes.fromhex(argument) for argument in command] for command in json.loads(line)]
        commands = [[name.decode(), *rest] for name, *rest in commands]  # a cluster looks names up as texts
        print(json.dumps([plain(reply) for reply in send(client, commands)]), flush=True)


if __name__ == "__main__":
    main()
