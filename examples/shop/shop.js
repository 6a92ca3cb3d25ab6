// shop.js - the page: it shows a list, sends clicks, and draws how the beliefs of the shop move.
//
// The page asks the server for its state several times a second while visitors are on, else once a second.
// A lesson has the id of the list that it is about.  It is sent again with the same id when no answer comes,
// and a second click on the same list has that id too: the ranker counts it once.

import {glazeColour, picture} from './pottery.js';

const $ = id => document.getElementById(id);
const still = matchMedia('(prefers-reduced-motion: reduce)');
const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)}\u202f%`;
const scale = rate => `${(100 * Math.sqrt(Math.max(0, Math.min(1, rate)))).toFixed(2)}%`; // the axis is that of the square root
const pause = ms => new Promise(done => setTimeout(done, ms));

let products = [], byId = new Map();
let view = null; // the list on the page: {id, shown, answered}
let state = null; // the last answer of /api/state
let lastTouched = 0; // when the visitor last used the list
let wanted = {on: false, speed: 0}; // what the switch and the speeds show
let changes = 0; // of `wanted`, and answers to them
let sent = Promise.resolve(); // the answer to the last request that changes something

// ---- the server

async function ask(path) {
  const answer = await fetch(path, {cache: 'no-store'});
  return read(answer);
}

async function read(answer) {
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error);
  return value;
}

// Without an answer the same request is sent again: its id makes it count once.
async function post(path, body) {
  const request = {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body)};
  for (let attempt = 1; ; attempt++) {
    try {
      return await read(await fetch(path, request));
    } catch (failure) {
      if (!(failure instanceof TypeError) || attempt === 4) throw failure;
      await pause(300 * attempt);
    }
  }
}

// One request after the other, so that they arrive in the order of the clicks.
function send(path, body) {
  const answer = sent.catch(() => {}).then(() => post(path, body));
  sent = answer;
  return answer;
}

function say(words) {
  $('said').textContent = words;
}

// What a button does; a failure is shown instead of thrown.
function acting(action) {
  return async event => {
    try {
      await action(event);
    } catch (failure) {
      say(failure instanceof TypeError ? 'The shop does not answer. Start examples/shop/run again.' : failure.message);
    }
  };
}

const randomId = () => [...crypto.getRandomValues(new Uint8Array(8))].map(b => b.toString(16).padStart(2, '0')).join('');

// ---- the list

// The visitor is the same until the browser tab is closed, and gets nearly the same list on each reload.
function visitor(another = false) {
  if (another || !sessionStorage.getItem('visitor')) sessionStorage.setItem('visitor', randomId());
  return sessionStorage.getItem('visitor');
}

function makePlaces(count) {
  for (let place = 1; place <= count; place++) {
    const item = document.createElement('li');
    item.innerHTML = `<button type="button"><span class="place" aria-hidden="true">${place}</span><span class="card"></span></button>`;
    item.firstChild.addEventListener('click', acting(() => clicked(place)));
    $('cards').append(item);
  }
}

function card(product) {
  return `<span class="picture">${picture(product)}</span><span class="words"><span>${product.name}</span><span class="price">${product.price} €</span></span>`;
}

async function newList() {
  const next = await ask(`/api/list?visitor=${visitor()}`), before = view;
  view = {...next, answered: false};
  const cards = [...document.querySelectorAll('#cards .card')], boxes = cards.map(c => c.getBoundingClientRect());
  next.shown.forEach((id, i) => {
    const button = cards[i].parentNode;
    button.classList.remove('clicked');
    if (button.dataset.product === id) return;
    const from = before ? before.shown.indexOf(id) : -1, product = byId.get(id);
    button.dataset.product = id;
    button.style.setProperty('--glaze', glazeColour(product.glaze));
    cards[i].innerHTML = card(product);
    if (before) arrive(cards[i], from >= 0 ? boxes[from] : null, boxes[i]);
  });
  for (const row of $('rows').children) row.classList.toggle('in-list', view.shown.includes(row.dataset.product));
}

// A card slides from the place that it had, or fades in.
function arrive(element, from, to) {
  if (still.matches) return;
  const start = from ? {transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)`} : {opacity: 0};
  element.animate([start, {transform: 'none', opacity: 1}], {duration: 450, easing: 'ease-in-out'});
}

async function clicked(place) {
  const list = view, first = !list.answered, name = byId.get(list.shown[place - 1]).name;
  list.answered = true;
  lastTouched = performance.now();
  if (first) $('cards').children[place - 1].firstChild.classList.add('clicked');
  const {counted, lessons} = await send('/api/click', {id: list.id, shown: list.shown, clicked: place});
  const above = place === 1 ? '' : place === 2 ? ', the one above it as passed over' : `, the ${place - 1} above it as passed over`;
  say(counted ? `Lesson ${lessons}: ${name} counts as clicked${above}.` : `This list has been counted already: the same id counts once.`);
  if (first) await pause(still.matches ? 0 : 600);
  if (first && view === list) await newList();
  await refresh();
}

async function nothing() {
  const list = view;
  const {counted, lessons} = await send('/api/click', {id: list.id, shown: list.shown, clicked: 0});
  say(counted ? `Lesson ${lessons}: all six were seen and none was clicked. Here is the next visitor.` : 'This list has been counted already: the same id counts once.');
  await another();
}

async function another() {
  visitor(true);
  await newList();
  await refresh();
}

// While visitors teach the shop, the list follows, but never under the pointer or the focus of the reader.
async function follow() {
  const used = $('cards').matches(':hover') || $('cards').querySelector(':focus-visible') || performance.now() - lastTouched < 4000;
  if (state && state.on && !used && !document.hidden && !view.answered) await newList();
}

// ---- beliefs

function makeRows() {
  const ticks = [0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1], major = [0, 0.1, 0.4, 1]; // narrow screens have the major ones
  $('axis').innerHTML = '<div></div>';
  for (const tick of ticks) {
    const label = document.createElement('span');
    label.textContent = percent(tick);
    label.style.left = scale(tick);
    label.classList.toggle('minor', !major.includes(tick));
    $('axis').firstChild.append(label);
  }
  for (const product of products) {
    const row = document.createElement('li');
    row.dataset.product = product.id;
    row.style.setProperty('--glaze', glazeColour(product.glaze));
    row.innerHTML = `<span class="thumb">${picture(product)}</span><span class="name">${product.name}</span>
      <span class="track"><span class="scale" role="img"><span class="range"></span><span class="prior"></span><span class="truth"></span><span class="mean"></span></span></span>
      <span class="value"></span>`;
    $('rows').append(row);
  }
}

function drawRows() {
  document.body.classList.toggle('truths', state.on);
  state.beliefs.forEach((belief, i) => {
    const row = $('rows').children[i], part = name => row.querySelector(`.${name}`);
    const [low, high] = [Math.max(0, belief.mean - 2 * belief.sd), Math.min(1, belief.mean + 2 * belief.sd)];
    part('range').style.left = scale(low);
    part('range').style.right = `calc(100% - ${scale(high)})`;
    part('mean').style.left = scale(belief.mean);
    part('prior').style.left = scale(products[i].told);
    part('truth').style.left = scale(state.rates[i]);
    part('value').textContent = percent(belief.mean, belief.mean < 0.0995 ? 1 : 0);
    part('scale').setAttribute('aria-label', `${products[i].name}: believed ${percent(belief.mean, 1)}, between ${percent(low)} and ${percent(high)}, told ${percent(products[i].told)}`
      + (state.on ? `, true ${percent(state.rates[i])}` : ''));
  });
}

function drawFigures() {
  const left = state.beliefs.reduce((sum, belief) => sum + belief.prior_share, 0) / state.beliefs.length;
  $('lessons').textContent = state.lessons.toLocaleString('en');
  $('recent').innerHTML = state.recent === null ? '–' : `${state.recent.toFixed(2)} <small>of ${state.best.toFixed(2)}</small>`;
  $('left').textContent = percent(left, left < 0.0995 ? 1 : 0);
  $('order').textContent = percent(state.order);
}

// ---- clicks per list

const svg = (name, attributes, text = '') => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
};

// Upright lines with a word beside each; the words of lines that are close together stand above each other.
function drawMarks(marks, top, bottom) {
  let before = -100, height = 0;
  return marks.flatMap(([x, what]) => {
    height = x - before < 14 ? height + 1 : 0;
    before = x;
    const line = svg('path', {class: 'mark', d: `M${x} ${top}V${bottom}`});
    return height > 1 ? [line] : [line, svg('text', {class: 'halo', transform: `translate(${x < 60 ? x + 11 : x - 5},${bottom - 6 - 86 * height}) rotate(-90)`}, what)];
  });
}

function drawChart() {
  const box = $('chart').getBoundingClientRect(), [left, right, top, bottom] = [30, box.width - 6, 10, box.height - 34];
  const most = Math.max(500, state.lists), x = lists => left + (right - left) * lists / most, y = share => bottom - (bottom - top) * share;
  const level = (share, kind) => svg('path', {class: kind, d: `M${left} ${y(share)}H${right}`});
  const label = (share, kind, words) => svg('text', {class: `${kind}-label halo`, x: right - 4, y: y(share) - 5, 'text-anchor': 'end'}, words);
  const drawing = svg('svg', {role: 'img', 'aria-label': `Clicks per list of the simulated visitors: ${state.recent === null ? 'none yet' : state.recent.toFixed(2)}, best possible ${state.best.toFixed(2)}`});
  for (const share of [0, 0.25, 0.5, 0.75, 1])
    drawing.append(level(share, 'grid'), svg('text', {x: left - 6, y: y(share) + 4, 'text-anchor': 'end'}, share === 0 ? '0' : share === 1 ? '1' : String(share).slice(1)));
  drawing.append(...drawMarks(state.marks.map(([at, what]) => [x(at), what]), top, bottom));
  drawing.append(level(state.best, 'best'), level(state.told, 'told'));
  drawing.append(label(state.best, 'best', 'best possible'), label(state.told, 'told', 'the list as told'));
  if (state.line.length > 1) drawing.append(svg('path', {class: 'line', d: 'M' + state.line.map(([at, share]) => `${x(at).toFixed(1)} ${y(share).toFixed(1)}`).join('L')}));
  drawing.append(svg('text', {x: left, y: bottom + 15}, '0'), svg('text', {x: right, y: bottom + 15, 'text-anchor': 'end'}, `${most.toLocaleString('en')} lists`));
  drawing.append(svg('text', {x: left, y: bottom + 30}, 'clicks per list, mean of the last 100 simulated visitors'));
  $('chart').replaceChildren(drawing);
}

// ---- controls

function makeSpeeds(speeds) {
  for (const speed of speeds) {
    const label = document.createElement('label');
    label.innerHTML = `<input type="radio" name="speed" value="${speed}"><span>${speed}</span>`;
    label.firstChild.addEventListener('change', acting(() => setVisitors({speed})));
    $('speeds').append(label);
  }
}

function drawControls() {
  $('switch').setAttribute('aria-checked', wanted.on);
  for (const input of $('speeds').querySelectorAll('input')) input.checked = Number(input.value) === wanted.speed;
}

async function setVisitors(change) {
  wanted = {...wanted, ...change};
  changes++;
  drawControls();
  await send('/api/visitors', wanted).finally(() => changes++);
  await refresh();
}

async function refresh() {
  const before = changes;
  state = await ask('/api/state');
  if (before === changes) wanted = {on: state.on, speed: state.speed}; // else it may be older than the switch
  if (state.trouble) say(state.trouble);
  drawControls();
  drawRows();
  drawFigures();
  drawChart();
}

function press(id, path, body, words) {
  $(id).addEventListener('click', acting(async () => {
    await send(path, body());
    if (words) say(words);
    await refresh();
    if (id === 'restart') await newList();
  }));
}

$('switch').addEventListener('click', acting(() => setVisitors({on: !wanted.on})));
press('tastes', '/api/tastes', () => ({}), 'The true click rates were shuffled among the pots. The shop does not know it yet.');
press('forget', '/api/forget', () => ({id: randomId()}), 'Everything learned weighs half: the bars are longer, and new clicks move them faster.');
press('restart', '/api/restart', () => ({}), 'The shop knows only what it was told in the beginning.');
$('none').addEventListener('click', acting(nothing));
$('next').addEventListener('click', acting(async () => {
  await another();
  say('A list for another visitor.');
}));
for (const kind of ['pointerdown', 'keydown']) $('cards').addEventListener(kind, () => { lastTouched = performance.now(); });
new ResizeObserver(() => state && drawChart()).observe($('chart'));

async function forever(action, wait) {
  for (;;) {
    if (!document.hidden) await acting(action)();
    await pause(wait());
  }
}

await acting(async () => {
  const shop = await ask('/api/products');
  products = shop.products;
  byId = new Map(products.map(product => [product.id, product]));
  makePlaces(shop.slots);
  makeSpeeds(shop.speeds);
  makeRows();
  await newList();
  await refresh();
  document.body.dataset.ready = 'yes';
  forever(refresh, () => state.on ? 250 : 1000);
  forever(follow, () => 2000);
})();
