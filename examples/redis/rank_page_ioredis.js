/* rank_page_ioredis.js - a page that learns from clicks, with the client ioredis.
 *
 *     node rank_page_ioredis.js [URL]          redis://127.0.0.1:6379 unless given
 *
 * Needs ioredis (`npm install ioredis`) and a server with the module oltr.  It differs from
 * rank_page.js in how a command is sent; this program also sends lessons in a pipeline. */
'use strict';
const Redis = require('ioredis');

const KEY = 'page:ioredis', VIEWS = 500;

async function create(client) {
    try {
        await client.call('OLTR.CREATE', KEY, 'ts-hyper');
    } catch (error) {
        if (!error.message.startsWith('EXISTS ')) throw error;
    }
}

async function main() {
    const client = new Redis(process.argv[2] || 'redis://127.0.0.1:6379');
    await create(client);
    const pipeline = client.pipeline();
    for (let n = 0; n < VIEWS; n++) { // every user clicks the hat
        const shown = ['ITEMS', 3, 'shoe', 'hat', 'coat'];
        pipeline.call('OLTR.LEARN', KEY, ...shown, 'CLICKS', 1, 2, 'ID', `view ${n}`);
    }
    const replies = await pipeline.exec(); // pairs: an error or null, and the reply
    console.log('lessons:', replies.filter(([error, counted]) => !error && counted === 1).length);
    console.log(await client.call('OLTR.RANK', KEY, 3, 'ALL', 'SEED', 'session 7'));
    await client.quit();
}

main().catch((error) => {
    console.error(error.message);
    process.exit(1);
});
