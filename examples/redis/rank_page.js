/* rank_page.js - a page of five products that learns from clicks, through Redis.
 *
 *     node rank_page.js [URL]          redis://127.0.0.1:6379 unless given
 *
 * Needs node-redis (`npm install redis`; Debian: node-redis) and a server with the module oltr.
 * The users are simulated: they look from the top, and click one of the five best products 20 times
 * as often as another. */
'use strict';
const { createClient } = require('redis');

const KEY = 'page:node', SLOTS = 5, VIEWS = 2000;
const PRODUCTS = Array.from({ length: 50 }, (_, i) => `product ${i}`);
const isGood = (product) => PRODUCTS.indexOf(product) % 10 === 0; // the model is not told

async function create(client) {
    try {
        await client.sendCommand(['OLTR.CREATE', KEY, 'ts-hyper']);
    } catch (error) {
        if (!error.message.startsWith('EXISTS ')) throw error; // the first word is fixed
    }
}

/* The SLOTS best of the candidates; a session sees nearly the same again.  Arguments of
 * node-redis are strings or Buffers: a number has to be made a string. */
function rank(client, session) {
    const candidates = ['ITEMS', String(PRODUCTS.length), ...PRODUCTS];
    return client.sendCommand(['OLTR.RANK', KEY, String(SLOTS), ...candidates, 'SEED', session]);
}

/* 1, or 0 if this view was learned before.  Clicks are positions from 1. */
function learn(client, view, shown, clicks) {
    const list = ['ITEMS', String(shown.length), ...shown];
    const clicked = ['CLICKS', String(clicks.length), ...clicks.map(String)];
    return client.sendCommand(['OLTR.LEARN', KEY, ...list, ...clicked, 'ID', view]);
}

let state = 7;
function random() { // 0 to 1, the same numbers in each run
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
}

/* The position of the first product that attracts this user, if any does. */
function userClicks(shown) {
    for (const [slot, product] of shown.entries())
        if (random() < (isGood(product) ? 0.2 : 0.01)) return [slot + 1];
    return [];
}

async function main() {
    const client = createClient({ url: process.argv[2] || 'redis://127.0.0.1:6379' });
    client.on('error', (error) => console.error(error.message)); // without it, an error ends node
    await client.connect();
    await create(client);
    const good = [];
    let shown;
    for (let n = 0; n < VIEWS; n++) {
        shown = await rank(client, `session ${n}`);
        await learn(client, `view ${n}`, shown, userClicks(shown));
        good.push(shown.filter(isGood).length);
    }
    const mean = (numbers) => numbers.reduce((a, b) => a + b) / numbers.length;
    console.log('good products of 5, first 100 views:', mean(good.slice(0, 100)));
    console.log('good products of 5, last 100 views:', mean(good.slice(-100)));
    console.log('the same view again counts:', await learn(client, `view ${VIEWS - 1}`, shown, []));
    await client.quit();
}

main().catch((error) => {
    console.error(error.message);
    process.exit(1);
});
