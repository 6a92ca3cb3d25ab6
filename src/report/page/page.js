/* page.js - draws the report from the JSON inside the page (page.json: docs/formats.md has its
 * fields).
 *
 * Titles, labels and captions come from files that anybody may have written: they become text nodes
 * and attribute values, never markup.  Numbers are written as text here and nowhere else. */

/* An element; children are elements, texts, or lists of them; null and '' are left out. */
function element(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => e.setAttribute(key, value));
  e.append(...children.flat(Infinity).filter(
      child => child !== null && child !== undefined && child !== ''));
  return e;
}

const link = (href, ...words) => element('a', {href}, ...words);
const cell = (...words) => element('td', {}, ...words);
const numberCell = (...words) => element('td', {class: 'n'}, ...words);
const rowHead = (...words) => element('th', {scope: 'row'}, ...words);
const row = (...cells) => element('tr', {}, ...cells);

/* ---- numbers as text ---- */

/* toFixed() of a number >= 0 with ties to even, as in the tables that C writes.  A tie is an odd
 * multiple of 2^-(digits+1). */
function fixed(value, digits) {
  const below = Math.floor(value * 10 ** digits), tie = value * 2 ** (digits + 1) % 2 === 1;
  return (tie && below % 2 === 0 ? below / 10 ** digits : value).toFixed(digits);
}

/* 116.43 with error 1.7 as "116.4 ± 1.7": the digits that the error justifies.  An exact number (no
 * error) has four. */
function estimate(value, error, sign = '') {
  if (value === null) return '';
  const digits = error > 0 ? Math.min(6, Math.max(1, -Math.floor(Math.log10(error)))) : 0;
  const size =
      error > 0 ? fixed(Math.abs(value), digits) : String(Number(Math.abs(value).toPrecision(4)));
  return (Number(size) === 0 ? ''
              : value < 0    ? '−'
                             : sign) +
      size + (error > 0 ? ` ± ${fixed(error, digits)}` : '');
}

const difference = (value, error) => estimate(value, error, '+');
const count = n => Number(n).toLocaleString('en');
const factor = x => String(Number(x.toPrecision(6)));
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? '' : 's'}`;

function seconds(time) {
  const s = Number(time) || 0;
  if (s < 59.5) return `${s.toFixed(s < 9.95 ? 1 : 0)} s`;
  return `${Math.floor(Math.round(s) / 60)} min ${Math.round(s) % 60} s`;
}

/* A number without an error, on an axis or in a legend. */
function plainNumber(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) return value.toExponential(2);
  const digits = size >= 100 ? 1 : size >= 1 ? 2 : 4;
  return value.toLocaleString('en', {maximumFractionDigits: digits});
}

/* ---- one experiment ---- */

const anchor = (experiment, figure) =>
    figure ? `${experiment.name}-${figure.file}` : experiment.name;
const titleOf = figure => figure.label || figure.file;
const figuresOf = experiment => experiment.run ? experiment.run.figures : [];
const policiesOf = ({run}) =>
    run && run.points ? run.points[0].policies : []; /* the same at all points */
const files = (...links) => element('p', {class: 'files'}, links.map(a => [a, ' ']));

function setting(experiment) {
  const {run, name} = experiment, point = run.points && run.points[0];
  const file = (path, words) => [link(`${name}/${path}`, words), ' '];
  const world = () => [
    'world ', element('code', {}, run.world.kind),
    ` · ${count(point.items)} items, ${point.slots} slots · ${count(point.rounds)} rounds, `,
    `${plural(point.replications, 'replication')} · `
  ];
  return element(
      'p', {class: 'facts'}, point ? world() : null,
      `${seconds(run.seconds)} on ${run.threads} threads · `,
      file('experiment.yaml', 'experiment file'),
      file(run.kind === 'concentration' ? 'density.csv' : 'results.csv', 'results'),
      file('summary.csv', 'summary'), file('manifest.json', 'manifest'));
}

function drawExperiment(experiment) {
  const run = experiment.run,
        section = element('section', {class: 'experiment', id: anchor(experiment)});
  section.append(element('h2', {}, run && run.title || experiment.name));
  if (experiment.trouble) section.append(element('p', {class: 'trouble'}, experiment.trouble));
  if (run) {
    if (run.note) section.append(element('p', {class: 'notice'}, run.note));
    section.append(
        setting(experiment),
        ...run.figures.map((figure, i) => drawFigure(experiment, figure, experiment.figures[i])),
        ...drawClaims(experiment, null), ...drawStandings(experiment));
  }
  return section;
}

/* ---- figures ---- */

/* The content of a figure as a sentence, for readers who cannot see it. */
function inWords(experiment, figure, plots) {
  if (experiment.posteriors.length > 0) {
    const deviations =
        experiment.posteriors.map(p => `${p.posterior} at ${p.attraction} ${fixed(p.sd, 3)}`);
    return 'Posterior densities of one item, a panel for each attraction. Standard deviations: ' +
        deviations.join(', ') + '.';
  }
  const {rows, curves} = plots[0], last = rows[rows.length - 1];
  const ends = curves.map((c, i) => `${c.name} ${estimate(last[1 + 2 * i], last[2 + 2 * i])}`);
  const against = figure.x === 'sweep' ? 'Final cumulative regret against the swept value'
                                       : 'Cumulative regret against rounds';
  return `${against}, from ${rows[0][0]} to ${last[0]}. At ${last[0]}, from the highest: ` +
      ends.join(', ') + '.';
}

/* A sweep of few values has a tick at each. */
function ticksOf(experiment, figure, plot) {
  const values = figure.x === 'sweep' ? experiment.run.points.map(point => point.sweep) : [];
  if (values.length !== plot.rows.length || values.length > 12) return null;
  const numeric = values.every(v => /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(v));
  return values.map((v, i) => [numeric ? Number(v) : plot.rows[i][0], v]);
}

function drawPicture(experiment, figure, {svg, plots}) {
  const words = inWords(experiment, figure, plots);
  const places = plots.map(
      plot => element(
          'div', {class: 'plot'},
          plots.length > 1 ? element('p', {class: 'panel-title'}, plot.title) : null));
  return [
    places, element('img', {
      class: 'still',
      width: 960,
      alt: words,
      src: 'data:image/svg+xml,' + encodeURIComponent(svg)
    }),
    element(
        'figcaption', {}, figure.caption,
        element(
            'details', {class: 'words'}, element('summary', {}, 'In words'),
            element('p', {}, words))),
    files(
        ...[['csv', 'data'], ['svg', 'SVG'], ['pdf', 'PDF'], ['png', 'PNG'],
            ['gp', 'gnuplot script']]
            .map(([ending, name]) => link(`${experiment.name}/${figure.file}.${ending}`, name)),
        link(`${experiment.name}/experiment.yaml`, 'experiment file'))
  ];
}

const charts = [], interactive = new Map(); /* of each figure that is not started yet, its plots */

function drawFigure(experiment, figure, drawn) {
  const label = element(
      'span', {class: figure.label ? 'label' : 'label beyond'}, figure.label || 'not in the paper');
  const box = element(
      'figure', {class: 'figure', id: anchor(experiment, figure)},
      element('h3', {}, figure.title, ' ', label),
      drawn ? drawPicture(experiment, figure, drawn)
            : element(
                  'p', {class: 'trouble'}, 'This figure was not drawn; ',
                  element('code', {}, 'oltr plot'), ' on its folder draws it.'),
      drawClaims(experiment, figure.file));
  if (!drawn) return box;
  box.classList.toggle('several', drawn.plots.length > 1);
  interactive.set(box, drawn.plots.map(plot => Object.assign({}, plot, {
    bands: figure.bands,
    log: figure.log === true,
    marks: figure.x === 'sweep',
    ticks: ticksOf(experiment, figure, plot)
  })));
  return box;
}

/* Puts the interactive plots in place of the drawn picture. */
function startFigure(box) {
  const plots = interactive.get(box);
  if (!interactive.delete(box)) return;
  box.classList.add('live');
  try {
    box.querySelectorAll('.plot').forEach((place, i) => charts.push(new Chart(place, plots[i])));
  } catch (trouble) {
    box.classList.remove('live'); /* the drawn picture is shown again */
    console.error(trouble);
  }
}

/* ---- claims ---- */

const verdicts = {
  holds: ['✓', 'holds', 'hold'],
  fails: ['✗', 'does not hold', 'do not hold'],
  inconclusive: ['?', 'inconclusive', 'inconclusive']
};

function verdict(name) { /* colour is never the only sign */
  return element(
      'span', {class: `verdict ${name}`},
      element('span', {'aria-hidden': 'true'}, verdicts[name][0]), ` ${verdicts[name][1]}`);
}

const measures = {
  width95: 'width of the 95% interval',
  coverage95: 'coverage of the 95% interval',
  sd: 'standard deviation'
};
const listed = names => names.length > 1
    ? `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`
    : names.join('');

/* The criterion of a test as a sentence: the meaning given to "competes closely". */
function criterion(test) {
  const policies = test.less || test.more || test.close, others = policies.slice(1);
  const times = test.close || test.factor === 1 ? '' : `${factor(test.factor)} × `;
  const relation = test.close ? `within ${factor(100 * test.within)}%`
                              : `${test.less ? 'below' : 'above'} ${times}`;
  if (test.against !== undefined) {
    const all = policies[0] + (others.length > 0 ? `, ${listed(others)}` : '');
    const where =
        test.close ? `and at ${test.against} ${relation}` : `${relation}that at ${test.against}`;
    return `regret at ${test.at} ${where}, of ${all}`;
  }
  const measure = test.measure ? measures[test.measure] || test.measure : 'regret',
        each = others.length > 1 ? 'each of' : 'that of';
  const compared = test.close ? `${listed(others)} ${relation} of ${policies[0]}`
                              : `${policies[0]} ${relation}${each} ${listed(others)}`;
  const from = test.from > 0 ? `, at every checkpoint from round ${count(test.from)}` : '';
  const round =
      test.round > 0 ? `${test.from > 0 ? ' to' : ', at round'} ${count(test.round)}` : '';
  return `${measure} of ${compared}${from}${round}${
      test.at !== undefined ? `, at ${test.at}` : ''}`;
}

const ratio = c => c.value > 0 && c.other_value > 0 ? fixed(c.value / c.other_value, 2) : '';

/* The comparison that decides lies furthest on the side that the claim denies; exact numbers have
 * no errors. */
function deciding(comparisons) {
  const above = c => c.margin_se > 0 ? c.margin / c.margin_se : c.margin;
  return comparisons.reduce((worst, c) => above(c) > above(worst) ? c : worst);
}

function decision(comparisons, withPlace) {
  const c = deciding(comparisons), found = difference(c.difference, c.difference_se);
  return [
    comparisons.length > 1 ? 'Decided by ' : '',
    element(
        'span', {class: 'found'}, c.policy,
        c.against !== undefined ? `: ${found}` : ` − ${c.other} = ${found}`,
        withPlace ? ` at ${c.at}` : '', ratio(c) && `, ratio ${ratio(c)}`),
    '. '
  ];
}

function comparisonTable(comparisons, withPlace) {
  const rows = comparisons.map(
      c =>
          row(cell(c.policy, c.against !== undefined || withPlace ? ` at ${c.at}` : ''),
              cell(c.other, c.against !== undefined ? ` at ${c.against}` : ''),
              numberCell(difference(c.difference, c.difference_se)), numberCell(ratio(c)),
              cell(verdict(c.verdict))));
  return element(
      'details', {}, element('summary', {}, `all ${comparisons.length} comparisons`),
      table('numbers', null, ['policy', 'against', ['difference ± se'], ['ratio'], 'alone'], rows));
}

function drawFinding(experiment, test, finding) {
  const withPlace = test.at === undefined && Boolean(experiment.run.sweep_key || test.measure),
        {comparisons} = finding;
  return element(
      'li', {}, verdict(finding.verdict), ' ', element('b', {class: 'reading'}, test.of), ': ',
      test.untold === undefined ? `${criterion(test)}. ` : '', finding.reason,
      comparisons.length > 0 ? decision(comparisons, withPlace) : null,
      comparisons.length > 1 ? comparisonTable(comparisons, withPlace) : null);
}

/* The claims that have tests, each with the findings of its tests. */
const claimsOf = ({run, findings}) =>
    findings.map((found, i) => ({claim: run.claims[i], findings: found}))
        .filter(c => c.findings.length > 0);

/* The claims about one figure; figure null: those about none. */
function drawClaims(experiment, figure) {
  return claimsOf(experiment)
      .filter(({claim}) => (claim.figure || null) === figure)
      .map(
          ({claim, findings}) => element(
              'section', {class: 'claim'}, element('p', {class: 'says'}, claim.says),
              element(
                  'ul', {},
                  findings.map((finding, i) => drawFinding(experiment, claim.tests[i], finding)))));
}

/* ---- tables ---- */

/* Heads in brackets are of columns of numbers. */
function table(kind, caption, heads, rows) {
  return element(
      'div', {class: 'wide'},
      element(
          'table', {class: kind}, caption,
          element(
              'thead', {},
              row(heads.map(
                  head => Array.isArray(head) ? element('th', {class: 'n'}, head)
                                              : element('th', {}, head)))),
          element('tbody', {}, rows)));
}

function rankingTable(experiment, {policies}) {
  const costs = new Map(policiesOf(experiment).map(policy => [policy.name, policy.ns_per_round]));
  const caption = element(
      'caption', {},
      `Ranking at round ${count(policies.length > 0 ? policies[0].round : 0)}. ` +
          'Policies share a letter if their difference is within three standard errors.');
  return table(
      'ranking', caption,
      ['group', 'policy', ['regret ± se'], ['behind the best'], ['ns a round']],
      policies.map(
          p => row(
              cell(p.letters), rowHead(p.policy), numberCell(estimate(p.regret, p.regret_se)),
              numberCell(p.behind === 0 ? '' : difference(p.behind, p.behind_se)),
              numberCell(fixed(Number(costs.get(p.policy)), 0)))));
}

function sweepTable(experiment) {
  const {run, standings} = experiment;
  const caption = element(
      'caption', {}, 'Final regret ± se against ', element('code', {}, run.sweep_key),
      '; bold where the best is more than three standard errors ahead of the next.');
  const rows = policiesOf(experiment)
                   .map(({name}) => row(rowHead(name), standings.map(({policies, clear}) => {
                          const at = policies.findIndex(p => p.policy === name),
                                found = policies[at];
                          return element(
                              'td', {class: clear && at === 0 ? 'n best' : 'n'},
                              found ? estimate(found.regret, found.regret_se) : '');
                        })));
  return table('ranking', caption, ['policy', ...run.points.map(point => [point.sweep])], rows);
}

function pairCell(pair, isSelf) {
  if (!pair) return isSelf ? element('td', {class: 'n self'}, '·') : cell();
  const clear = Math.abs(pair[0]) > 3 * pair[1];
  return element(
      'td', {class: clear ? (pair[0] < 0 ? 'n better' : 'n worse') : 'n'}, difference(...pair));
}

function pairTable(sweep, {policies, pairs}) {
  const heads =
      element('thead', {}, row(cell(), policies.map(p => element('th', {scope: 'col'}, p.policy))));
  const rows = policies.map(
      (p, i) => row(rowHead(p.policy), pairs[i].map((pair, j) => pairCell(pair, i === j))));
  return element(
      'details', {class: 'pairs'},
      element('summary', {}, 'Every policy against every other', sweep && `, at ${sweep}`),
      element(
          'p', {},
          'Regret of the row minus regret of the column, ± its standard error, paired by ' +
              'replication. Coloured beyond three standard errors.'),
      element(
          'div', {class: 'wide'},
          element('table', {class: 'matrix'}, heads, element('tbody', {}, rows))));
}

function drawStandings(experiment) {
  const {run, standings} = experiment;
  if (!run.points) return [];
  return [
    run.sweep_key ? sweepTable(experiment) : rankingTable(experiment, standings[0]),
    ...standings.map(
        (standing, i) => standing.pairs ? pairTable(run.points[i].sweep, standing) : '')
  ];
}

/* Every policy "X (released)" beside its "X"; of a sweep, the two ends. */
function releasedRows(experiment) {
  const {run, standings} = experiment, names = policiesOf(experiment).map(p => p.name);
  return names.filter(name => name.endsWith(' (released)') && names.includes(name.slice(0, -11)))
      .flatMap(name => [...new Set([0, standings.length - 1])].map(point => {
        const {policies, pairs} = standings[point], sweep = run.points[point].sweep;
        const printed = policies.findIndex(p => p.policy === name.slice(0, -11)),
              released = policies.findIndex(p => p.policy === name);
        if (printed < 0 || released < 0) return '';
        const regret = at => numberCell(estimate(policies[at].regret, policies[at].regret_se)),
              pair = pairs && pairs[released][printed];
        return row(
            cell(link(`#${experiment.name}`, experiment.name), sweep && ` at ${sweep}`),
            rowHead(policies[printed].policy), regret(printed), regret(released),
            numberCell(pair ? difference(...pair) : ''));
      }));
}

/* Each note once, however many experiments have it. */
function noteEntries(experiments) {
  const seen = new Set();
  return experiments.flatMap(policiesOf)
      .filter(({note}) => note && !seen.has(note) && seen.add(note))
      .flatMap(({name, note}) => [element('dt', {}, name), element('dd', {}, note)]);
}

function paperTime({run}) {
  return !run.figures.some(figure => figure.label) ? 'not in the paper'
      : !run.points                                ? 'nothing to simulate'
      : run.note                                   ? 'not given'
                                                   : 'about 5 min on 48 cores';
}

function runRow(experiment) {
  const {name, run} = experiment, head = rowHead(link(`#${name}`, name));
  return !run ? row(head, numberCell(), cell(), cell(), cell(experiment.trouble), cell())
              : row(head, numberCell(seconds(run.seconds)), numberCell(run.threads),
                    numberCell(seconds(run.threads * run.seconds)), cell(paperTime(experiment)),
                    numberCell(count(run.points ? run.points[0].replications : 0)));
}

/* One row for each reading; the first has the figure and the words of the claim. */
function claimRows(experiment) {
  return claimsOf(experiment).flatMap(({claim, findings}) => {
    const figure = figuresOf(experiment).find(f => f.file === claim.figure),
          name = figure ? titleOf(figure) : experiment.name;
    const shared = [link(`#${anchor(experiment, figure)}`, name), claim.says].map(
        words => element('td', {rowspan: findings.length}, words));
    return findings.map(
        (finding, i) => element(
            'tr', i > 0 ? {class: 'same'} : {}, i > 0 ? null : shared, cell(claim.tests[i].of),
            cell(verdict(finding.verdict))));
  });
}

/* ---- the page ---- */

/* Machine and program of the first experiment: all ran in one go. */
function machine(experiments) {
  const runs = experiments.map(experiment => experiment.run).filter(Boolean), [first] = runs;
  if (!first) return '';
  const host = first.host, total = runs.reduce((sum, run) => sum + run.seconds, 0);
  return `oltr ${first.oltr}, ${first.compiler} · ${
             host.processor || host.machine ||
             'unknown machine'}, ${host.processors || 0} processors, ${host.system || ''} · ` +
      `${first.date} · ${seconds(total)} of simulation`;
}

function score(experiments) {
  const found =
      experiments.flatMap(experiment => experiment.findings).flat().map(finding => finding.verdict);
  return Object.entries(verdicts).flatMap(
      ([name, [sign, , word]]) =>
          [element(
               'span', {class: `verdict ${name}`},
               `${sign} ${found.filter(v => v === name).length} ${word}`),
           ' ']);
}

/* The list of figures, above the tables. */
function navigation(experiments, ofPaper) {
  const entries = experiments.flatMap(
      experiment =>
          figuresOf(experiment)
              .filter(figure => Boolean(figure.label) === ofPaper)
              .map(
                  figure =>
                      element('li', {}, link(`#${anchor(experiment, figure)}`, titleOf(figure)))));
  const heading = element('p', {}, ofPaper ? 'Figures of the paper' : 'Beyond the paper');
  return entries.length > 0 ? [heading, element('ul', {}, entries)] : [];
}

function drawPage({notice, experiments}) {
  const find = selector => document.querySelector(selector), body = id => find(`#${id} tbody`);
  find('#notice').textContent = notice || '';
  find('#notice').hidden = !notice;
  find('#machine').textContent = machine(experiments);
  find('#score').append(...score(experiments));
  find('nav').prepend(...navigation(experiments, true), ...navigation(experiments, false));
  body('claims').append(...experiments.flatMap(claimRows));
  find('#claims').after(...experiments.map(drawExperiment));
  body('released').append(...experiments.flatMap(releasedRows));
  find('#released dl').append(...noteEntries(experiments));
  body('runs').append(...experiments.map(runRow));
  find('nav').hidden = find('main').hidden = false;
}

/* Plots are made when they come near the screen. */
function watchFigures() {
  const watcher = new IntersectionObserver(
      seen => seen.filter(entry => entry.isIntersecting).forEach(entry => {
        watcher.unobserve(entry.target);
        startFigure(entry.target);
      }),
      {rootMargin: '600px'});
  [...interactive.keys()].forEach(figure => watcher.observe(figure));
  dark.addEventListener('change', () => charts.forEach(chart => chart.recolour()));
}

try {
  drawPage(JSON.parse(document.getElementById('data').textContent));
  watchFigures();
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
} catch (trouble) {
  document.getElementById('failure').hidden = false;
  throw trouble;
}
window.oltrReport = {
  startAll: () => [...interactive.keys()].forEach(startFigure),
  charts
};
