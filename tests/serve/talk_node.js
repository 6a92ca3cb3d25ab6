/* talk_node.js - sends commands by node-redis or ioredis and prints the replies, for clients.py.
 *
 *     node talk_node.js PACKAGE single|cluster HOST PORT PROTOCOL
 *
 * The lines of input and output are those of talk_redis_py.py.  PACKAGE is a folder of a client. */
'use strict';
const path = require('path');
const readline = require('readline');

function plain(reply) {
    if (Buffer.isBuffer(reply)) return { b: reply.toString('hex') };
    if (typeof reply === 'string') return { b: Buffer.from(reply).toString('hex') };
    if (reply instanceof Error) return { e: reply.message };
    if (Array.isArray(reply)) return reply.map(plain);
    if (reply instanceof Map) return { m: [...reply].map(([k, v]) => [plain(k), plain(v)]) };
    if (reply !== null && typeof reply === 'object')
        return { m: Object.entries(reply).map(([k, v]) => [plain(k), plain(v)]) };
    return reply === undefined ? null : reply;
}

/* Each opens a client and returns how a command is sent and how the client is closed.  Commands that
 * are sent without waiting go out together: both clients call that pipelining. */
async function openNodeRedis(redis, mode, host, port, protocol) {
    const bytes = redis.RESP_TYPES // version 5 and later; version 4 has returnBuffers
        ? { typeMapping: { [redis.RESP_TYPES.BLOB_STRING]: Buffer, [redis.RESP_TYPES.MAP]: Map } }
        : { returnBuffers: true };
    const url = `redis://${host}:${port}`;
    const options = protocol === '3' ? { RESP: 3 } : redis.RESP_TYPES ? { RESP: 2 } : {};
    const client = mode === 'cluster' ? redis.createCluster({ rootNodes: [{ url }], ...options })
                                      : redis.createClient({ url, ...options });
    client.on('error', (error) => console.error(error.message));
    await client.connect();
    return {
        send: mode === 'cluster' ? (args) => client.sendCommand(args[1], false, args, bytes)
                                 : (args) => client.sendCommand(args, bytes),
        close: () => client.disconnect(),
    };
}

async function openIoredis(Redis, mode, host, port, protocol) {
    const options = protocol === '3' ? { protocol: 3, replyMapping: 'resp3' } : { protocol: 2 };
    const client = mode === 'cluster'
        ? new Redis.Cluster([{ host, port: Number(port) }], { redisOptions: options })
        : new Redis({ host, port: Number(port), ...options });
    return {
        send: (args) => client.callBuffer(args[0].toString(), ...args.slice(1)),
        close: () => client.disconnect(),
    };
}

async function main() {
    const [folder, ...rest] = process.argv.slice(2);
    const { name, version } = require(path.join(folder, 'package.json'));
    const open = name === 'ioredis' ? openIoredis : openNodeRedis;
    const talk = await open(require(folder), ...rest);
    console.log(JSON.stringify(version));
    for await (const line of readline.createInterface({ input: process.stdin })) {
        const commands = JSON.parse(line).map((args) => args.map((hex) => Buffer.from(hex, 'hex')));
        const replies = await Promise.allSettled(commands.map(talk.send));
        console.log(JSON.stringify(replies.map(({ value, reason }) => plain(reason || value))));
    }
    await talk.close();
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
