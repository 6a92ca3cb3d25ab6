// pottery.js - draws the products: turned pots in SVG, from a profile, a glaze and a seed.
//
// A profile is a list of [height, half width] from the rim to the foot in a square of 100 by 100.  The
// same product is always drawn the same: its name is the seed.

const PROFILES = {
  bowl: [[46, 35], [54, 34.5], [66, 29], [76, 19], [81, 13], [86, 14]],
  cup: [[42, 21], [50, 21.5], [64, 21.5], [76, 19], [82, 15], [86, 14]],
  vase: [[16, 13], [22, 9.5], [32, 11], [46, 22], [58, 26], [70, 22], [80, 15], [86, 14]],
  bottle: [[12, 7], [15, 7.5], [18, 5.5], [34, 6], [42, 10], [52, 20], [64, 24], [78, 22], [86, 18]],
  jar: [[37, 18], [41, 21], [50, 27], [62, 29.5], [75, 26], [86, 19]],
  jug: [[24, 14], [32, 11.5], [40, 13], [52, 21], [64, 24.5], [76, 21], [86, 15]],
  planter: [[50, 25], [57, 25], [58, 22.5], [70, 20], [80, 17.5], [86, 16]],
  teapot: [[47, 13], [50, 19], [58, 27], [67, 29], [77, 24], [86, 17]],
};
const LIDS = {jar: [37, 18], teapot: [47, 13]};
const GLAZES = {
  amber: '#c9822b', fern: '#5f8f4e', slate: '#5d7080', rose: '#d58a98', sand: '#d3bd92', sky: '#74add3', plum: '#7f5585', honey: '#e0ae45',
  ink: '#36456a', sea: '#3a8f90', moss: '#8a9a4a', coral: '#e2765c', rust: '#a9532f', cream: '#eadfc6',
};
const CLAYS = ['#b98560', '#9c6544', '#d8c3a5', '#8f8378'];

export const glazeColour = glaze => GLAZES[glaze];

// Numbers from 0 to 1 that depend on the text alone (an xorshift of its hash).
function dice(text) {
  let state = 2166136261;
  for (const letter of text) state = Math.imul(state ^ letter.charCodeAt(0), 16777619);
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
}

const round = x => Math.round(x * 10) / 10;

// A smooth curve through the points (Catmull-Rom), without its first move.
function curve(points) {
  const at = i => points[Math.max(0, Math.min(points.length - 1, i))];
  return points.slice(1).map((to, i) => {
    const [before, from, after] = [at(i - 1), at(i), at(i + 2)];
    const handle = (a, b, c, sign) => [round(c[0] + sign * (b[0] - a[0]) / 6), round(c[1] + sign * (b[1] - a[1]) / 6)];
    return `C${handle(before, to, from, 1)} ${handle(from, after, to, -1)} ${to.map(round)}`;
  }).join('');
}

function outline(profile) {
  const right = profile.map(([y, w]) => [50 + w, y]);
  const left = profile.map(([y, w]) => [50 - w, y]).reverse();
  const foot = profile[profile.length - 1][1];
  return `M${right[0].map(round)}${curve(right)}Q50 ${right[right.length - 1][0] > 0 ? 86 + foot / 5 : 86} ${left[0].map(round)}${curve(left)}Z`;
}

// Where the glaze ends: a wave at a depth between 30 and 75 % of the height.
function dip(profile, die) {
  const top = profile[0][0], depth = top + (86 - top) * (0.3 + 0.45 * die()), wave = 1 + 3 * die(), phase = 6.3 * die(), points = [];
  for (let x = 4; x <= 96; x += 8) points.push([x, depth + wave * Math.sin(phase + x / 9)]);
  return `M4 0L4 ${round(points[0][1])}${curve(points)}L96 0Z`;
}

function bands(profile, die, colour) {
  const count = Math.floor(3.5 * die()), top = profile[0][0];
  let out = '';
  for (let i = 0; i < count; i++) {
    const y = round(top + (86 - top) * (0.25 + 0.6 * die()));
    out += `<path d="M4 ${y}Q50 ${y + 5} 96 ${y}" fill="none" stroke="${colour}" stroke-opacity=".55" stroke-width="${round(0.8 + 2 * die())}"/>`;
  }
  return out;
}

function speckles(die) {
  let out = '';
  for (let i = 0; i < 34; i++)
    out += `<circle cx="${round(15 + 70 * die())}" cy="${round(15 + 72 * die())}" r="${round(0.3 + 0.5 * die())}"/>`;
  return `<g fill="#2a1c12" fill-opacity=".3">${out}</g>`;
}

function leaves(die) {
  let out = '';
  for (let i = 0; i < 9; i++) {
    const lean = (i - 4) / 4 + 0.15 * (die() - 0.5), length = 34 - 10 * Math.abs(lean) + 6 * die();
    const [x, y] = [round(50 + 26 * lean), round(52 - length)], [mx, my] = [50 + 7 * lean, 52 - length * 0.55];
    const green = ['#5c8a4a', '#74a05c', '#4a7747'][i % 3];
    out += `<path d="M50 54Q${round(mx - 5)} ${round(my)} ${x} ${y}Q${round(mx + 6)} ${round(my + 2)} 50 54Z" fill="${green}"/>`;
  }
  return out;
}

// Parts behind and in front of the body.
function handles(form, colour) {
  const loop = d => `<path d="${d}" fill="none" stroke="${colour}" stroke-width="4.6" stroke-linecap="round"/>`;
  if (form === 'cup') return loop('M70 50C86 46 86 70 68 71');
  if (form === 'jug') return loop('M62 29C86 22 88 56 73 58');
  if (form === 'teapot') return loop('M76 56C95 48 95 80 74 76') + `<path d="M27 60C17 60 19 48 8 46L5 50C12 54 12 72 28 76Z" fill="${colour}"/>`;
  return '';
}

function lid(form, colour) {
  if (!LIDS[form]) return '';
  const [y, w] = LIDS[form];
  return `<circle cx="50" cy="${y - w * 0.62 - 2.5}" r="3.6" fill="${colour}"/>
    <path d="M${50 - w - 1.5} ${y + 1}Q50 ${y - w * 1.35} ${50 + w + 1.5} ${y + 1}Q50 ${y + 4.5} ${50 - w - 1.5} ${y + 1}Z" fill="${colour}"/>
    <path d="M${50 - w - 1.5} ${y + 1}Q50 ${y + 4.5} ${50 + w + 1.5} ${y + 1}" fill="none" stroke="#1d120a" stroke-opacity=".25"/>`;
}

function rim(form, profile, colour) {
  if (LIDS[form]) return '';
  const [y, w] = profile[0];
  const spout = form === 'jug' ? `<path d="M${50 - w + 1} ${y - 1.2}Q${50 - w - 6} ${y - 4} ${50 - w - 8} ${y - 3}Q${50 - w - 2} ${y + 2} ${50 - w + 3} ${y + 7}Z" fill="${colour}"/>` : '';
  return `${spout}<ellipse cx="50" cy="${y}" rx="${w}" ry="${round(w * 0.15)}" fill="${colour}"/>
    <ellipse cx="50" cy="${y + 0.3}" rx="${round(w - 1.5)}" ry="${round(w * 0.15 - 0.5)}" fill="#1d120a" fill-opacity=".5"/>`;
}

let drawn = 0;

// The picture of a product as SVG text; it has no name, as one stands beside it.
export function picture({id, form, glaze}) {
  const die = dice(id), colour = GLAZES[glaze], clay = CLAYS[Math.floor(4 * die())], key = `pot${drawn++}`;
  const squat = 0.97 + 0.06 * die();
  const profile = PROFILES[form].map(([y, w]) => [y, w * squat]);
  return `<svg viewBox="0 0 100 100" aria-hidden="true" focusable="false">
    <defs>
      <clipPath id="${key}"><path d="${outline(profile)}"/></clipPath>
      <linearGradient id="${key}s"><stop offset="0" stop-color="#000" stop-opacity=".12"/><stop offset=".28" stop-color="#fff" stop-opacity=".28"/>
        <stop offset=".5" stop-color="#fff" stop-opacity="0"/><stop offset="1" stop-color="#000" stop-opacity=".34"/></linearGradient>
    </defs>
    <ellipse cx="52" cy="88" rx="${round(profile[profile.length - 1][1] * 1.75)}" ry="3.6" fill="#000" fill-opacity=".16"/>
    ${handles(form, colour)}${form === 'planter' ? leaves(die) : ''}
    <g clip-path="url(#${key})">
      <rect width="100" height="100" fill="${clay}"/><path d="${dip(profile, die)}" fill="${colour}"/>
      ${bands(profile, die, die() < 0.5 ? '#fff8e8' : '#2b211b')}${speckles(die)}
      <rect x="${round(50 - Math.max(...profile.map(p => p[1])))}" width="${round(2 * Math.max(...profile.map(p => p[1])))}" height="100" fill="url(#${key}s)"/>
    </g>
    ${form === 'planter' ? '' : rim(form, profile, colour)}${lid(form, colour)}
  </svg>`;
}
