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
      size + (error > 0 ? ` ±\u00a0${fixed(error, digits)}` : '');
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

/* 1.2 × 10⁹; 10⁶ */
function scientific(value) {
  const [head, power] = value.toExponential(1).split('e');
  const raised = [...power.replace('+', '')].map(c => c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]).join('');
  return head === '1.0' ? `10${raised}` : `${head.replace('.0', '')} × 10${raised}`;
}

/* A number without an error. */
function plainNumber(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) return scientific(value);
  const digits = size >= 1e4 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 4;
  return value.toLocaleString('en', {maximumFractionDigits: digits});
}

/* ---- one experiment ---- */

const anchor = (experiment, figure) =>
    figure ? `${experiment.name}-${figure.file}` : experiment.name;
const titleOf = experiment => experiment.run && experiment.run.title || experiment.name;
const figuresOf = experiment => experiment.run ? experiment.run.figures : [];
const policiesOf = ({run}) =>
    run && run.points ? run.points[0].policies : []; /* the same at all points */

/* A link to a file in the folder of the report: shown if the folder is there (watchFolder). */
const beside = (href, words) => element('a', {class: 'beside', href}, words);

/* A button that saves a file whose content is in the page. */
function saves(words, name, type, content) {
  const button = element('button', {type: 'button', class: 'link', title: `Save ${name}`}, words);
  button.addEventListener('click', async () => {
    const url = URL.createObjectURL(new Blob([await content()], {type}));
    const a = element('a', {href: url, download: name});
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
  return button;
}

const csvField = value => value === null ? ''
    : /[",\n]/.test(String(value))       ? `"${String(value).replaceAll('"', '""')}"`
                                         : String(value);
const csv = rows => rows.map(fields => fields.map(csvField).join(',') + '\n').join('');

function setting(experiment) {
  const {run, name} = experiment, point = run.points && run.points[0];
  const file = (path, words) => [' ', beside(`${name}/${path}`, words)];
  const world = () => [
    'world ', element('code', {}, run.world.kind),
    ` · ${count(point.items)} items, ${point.slots} slots · ${count(point.rounds)} rounds, `,
    `${plural(point.replications, 'replication')} · `
  ];
  return element(
      'p', {class: 'facts'}, point ? world() : null,
      `${seconds(run.seconds)} on ${plural(run.threads, 'thread')}`,
      file('experiment.yaml', 'experiment file'),
      file(run.kind === 'concentration' ? 'density.csv' : 'results.csv', 'results'),
      file('summary.csv', 'summary'), file('manifest.json', 'manifest'));
}

function drawExperiment(experiment) {
  const run = experiment.run,
        section = element('section', {class: 'experiment', id: anchor(experiment)});
  section.append(element('h2', {}, titleOf(experiment)));
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
function inWords(experiment, plots) {
  if (experiment.posteriors.length > 0) {
    const deviations =
        experiment.posteriors.map(p => `${p.posterior} at ${p.attraction} ${fixed(p.sd, 3)}`);
    return 'Posterior densities of one item, a panel for each attraction. Standard deviations: ' +
        deviations.join(', ') + '.';
  }
  const {rows, curves, ticks, x, y} = plots[0], last = rows[rows.length - 1];
  const ends = curves.map((c, i) => `${c.name} ${estimate(last[1 + 2 * i], last[2 + 2 * i])}`);
  const at = row => {
    const tick = ticks && ticks.find(t => t[0] === row[0]);
    return tick ? tick[1] : plainNumber(row[0]);
  };
  return `The ${y} against ${x}, from ${at(rows[0])} to ${at(last)}. At ${
      at(last)}, from the highest: ${ends.join(', ')}.`;
}

/* The SVG of a figure: page.json has it compressed, in base64. */
async function unpackPicture(packed) {
  const bytes = Uint8Array.from(atob(packed), c => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).text();
}

/* The data of a plot as a table. */
function plotRows({x, curves, rows, errors, ticks}) {
  const heads = curves.flatMap(c => errors ? [c.name, `${c.name} se`] : [c.name]);
  const words = new Map(ticks || []);
  return [[x, ...heads], ...rows.map(row => [words.get(row[0]) || row[0], ...row.slice(1)])];
}

const charts = [], waiting = new Map(); /* of each figure that is not started yet, its charts */

/* The interactive plots, and the drawn picture that replaces them on paper. */
function drawPlots(experiment, figure, {svg, plots}) {
  const places = plots.map(
      plot => element(
          'div', {class: 'plot'},
          plots.length > 1 ? element('p', {class: 'panel-title'}, plot.title) : null));
  const still =
      element('img', {class: 'still', width: 960, alt: inWords(experiment, plots), 'data-svg': svg});
  const stage =
      element('div', {class: plots.length > 1 ? 'stage several' : 'stage'}, places, still);
  waiting.set(stage, plots.map((plot, i) => new Chart(places[i], {...plot, bands: figure.bands})));
  return stage;
}

function drawFiles(experiment, figure, {svg, plots}) {
  const rows = () => csv(plots.flatMap(plotRows));
  const file = ([ending, words]) => beside(`${experiment.name}/${figure.file}.${ending}`, words);
  return element(
      'p', {class: 'files'}, saves('data', `${figure.file}.csv`, 'text/csv', rows), ' ',
      saves('SVG', `${figure.file}.svg`, 'image/svg+xml', () => unpackPicture(svg)), ' ',
      [['pdf', 'PDF'], ['png', 'PNG'], ['gp', 'gnuplot script']].map(f => [file(f), ' ']));
}

/* Where the figure is from, on a page about the paper. */
function origin({label}) {
  return !page.paper ? null
      : label        ? element('span', {class: 'label', title: 'its label in the paper'}, label)
                     : element('span', {class: 'label beyond'}, 'beyond the paper');
}

function drawFigure(experiment, figure, drawn) {
  const claims = drawClaims(experiment, figure.file);
  const words = drawn && element(
      'details', {class: 'words'}, element('summary', {}, 'In words'),
      element('p', {}, inWords(experiment, drawn.plots)));
  return element(
      'figure', {class: 'figure', id: anchor(experiment, figure)},
      element('h3', {}, figure.title, ' ', origin(figure)),
      drawn ? drawPlots(experiment, figure, drawn)
            : element(
                  'p', {class: 'trouble'}, 'This figure was not drawn; ',
                  element('code', {}, 'oltr plot'), ' on its folder draws it.'),
      element('figcaption', {}, figure.caption),
      claims.length > 0 ? element('div', {class: 'verdicts'}, claims) : null,
      drawn ? element('div', {class: 'more'}, drawFiles(experiment, figure, drawn), words) : null);
}

/* Starts the charts of a figure; the drawn picture replaces them if that fails. */
function startFigure(stage) {
  const waiters = waiting.get(stage);
  if (!waiting.delete(stage)) return;
  try {
    waiters.forEach(chart => {
      chart.start();
      charts.push(chart);
    });
    stage.classList.add('live');
  } catch (trouble) {
    stage.classList.add('broken');
    console.error(trouble);
  }
}

/* ---- claims ---- */

const verdicts = {
  holds: ['✓', 'holds', 'hold'],
  fails: ['✗', 'does not hold', 'do not hold'],
  inconclusive: ['?', 'inconclusive', 'inconclusive'],
  unmeasurable: ['–', 'not measurable', 'not measurable']
};

function verdict(name, words) { /* colour is never the only sign */
  return element(
      'span', {class: `verdict ${name}`},
      element('span', {'aria-hidden': 'true'}, verdicts[name][0]), ` ${words || verdicts[name][1]}`);
}

/* Which reading of a claim, and at which setting. */
const reading = test => test.setting ? `${test.of}, ${test.setting} = ${test.value}` : test.of;

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
  if (test.bound)
    return `regret of ${listed(policies)} ${relation}that of the bound ${test.bound}${
        test.round > 0 ? `, at round ${count(test.round)}` : ''}`;
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
      'li', {}, verdict(finding.verdict), ' ', element('b', {class: 'reading'}, reading(test)), ': ',
      test.less || test.more || test.close ? `${criterion(test)}. ` : '', finding.reason,
      comparisons.length > 0 ? decision(comparisons, withPlace) : null,
      comparisons.length > 1 ? comparisonTable(comparisons, withPlace) : null);
}

/* The claims that have tests, each with the findings of its tests. */
const claimsOf = ({run, findings}) =>
    findings.map((found, i) => ({claim: run.claims[i], findings: found}))
        .filter(c => c.findings.length > 0);

/* A claim in the words of the paper, or in ours. */
function says(claim) {
  if (claim.source === 'paper') return [element('q', {}, claim.says)];
  const whose = claim.tests.every(test => /^not claimed/.test(test.of)) ? 'Not claimed: ' : 'Ours: ';
  return [claim.source ? element('span', {class: 'whose'}, whose) : null, claim.says];
}

/* The name of a reading; of our own claims only what is behind the word. */
const readingName = (claim, of) =>
    claim.source && claim.source !== 'paper' ? of.replace(/^(ours|not claimed)(, |$)/, '') : of;

/* The readings of a claim as chips.  Tests that differ only in the value of a setting are one, with
 * their common verdict in words. */
function readings(claim, findings) {
  const seen = new Set();
  return claim.tests.flatMap(({of, setting}, i) => {
    const {verdict: name, overall} = findings[i], group = JSON.stringify([of, setting, overall]),
          words = readingName(claim, of);
    if (!setting) return [verdict(name, words), ' '];
    if (seen.has(group)) return [];
    seen.add(group);
    const found = new Set(
        findings.filter((_, j) => claim.tests[j].of === of && claim.tests[j].setting === setting)
            .map(finding => finding.verdict));
    const sign = Object.keys(verdicts).filter(v => found.has(v)).map(v => verdicts[v][0]).join('');
    return [
      element(
          'span', {class: `verdict ${found.size > 1 ? 'mixed' : name}`},
          `${sign} ${words && `${words}: `}${overall || setting}`),
      ' '
    ];
  });
}

function drawClaim(experiment, {claim, findings}) {
  return element(
      'section', {class: 'claim'}, element('p', {class: 'says'}, says(claim)),
      element(
          'details', {},
          element('summary', {}, readings(claim, findings), element('i', {}, 'numbers')),
          element(
              'ul', {},
              findings.map((finding, i) => drawFinding(experiment, claim.tests[i], finding)))));
}

const isOurs = ({claim}) => Boolean(claim.source) && claim.source !== 'paper';

/* How many tests have each verdict, as signs. */
function signs(found) {
  const all = found.flatMap(({findings}) => findings).map(finding => finding.verdict);
  const one = name => all.filter(v => v === name).length;
  return element(
      'span', {class: 'signs'},
      Object.keys(verdicts).filter(one).map(
          name => [element('span', {class: `verdict ${name}`}, `${verdicts[name][0]} ${one(name)}`), ' ']));
}

/* The claims about one figure; figure null: those about none.  Beside claims of a paper, our own are
 * folded. */
function drawClaims(experiment, figure) {
  const found = claimsOf(experiment).filter(({claim}) => (claim.figure || null) === figure),
        ours = found.filter(isOurs), others = found.filter(c => !isOurs(c));
  const draw = claims => claims.map(c => drawClaim(experiment, c));
  if (others.length === 0 || ours.length === 0) return draw(found);
  return [
    ...draw(others),
    element(
        'details', {class: 'claim ours'},
        element('summary', {}, `${plural(ours.length, 'claim')} of our own `, signs(ours)), draw(ours))
  ];
}

/* All claims about a figure, folded: its title and how many hold. */
function foldedClaims(experiment) {
  const figures = [...figuresOf(experiment), null];
  return figures.flatMap(figure => {
    const found = claimsOf(experiment)
                      .filter(({claim}) => (claim.figure || null) === (figure && figure.file));
    if (found.length === 0) return [];
    return element(
        'details', {class: 'fold'},
        element(
            'summary', {},
            element('span', {class: 'fold-title'}, figure ? figure.title : titleOf(experiment)), ' ',
            signs(found)),
        found.map(
            ({claim, findings}) => element(
                'p', {class: 'folded-claim'}, says(claim), ' ',
                element('span', {class: 'signs'}, readings(claim, findings)))),
        element('p', {}, link(`#${anchor(experiment, figure)}`, 'To the figure')));
  });
}

/* ---- tables ---- */

/* Heads in brackets are of columns of numbers.  A wide table scrolls under its caption. */
function table(kind, caption, heads, rows) {
  return [caption ? element('p', {class: 'caption'}, caption) : null, element(
      'div', {class: 'wide', tabindex: 0},
      element(
          'table', {class: kind},
          element(
              'thead', {},
              row(heads.map(
                  head => Array.isArray(head) ? element('th', {class: 'n'}, head)
                                              : element('th', {}, head)))),
          element('tbody', {}, rows)))];
}

function rankingTable(experiment, {policies}) {
  const costs = new Map(policiesOf(experiment).map(policy => [policy.name, policy.ns_per_round]));
  const caption = [
      `Ranking at round ${count(policies.length > 0 ? policies[0].round : 0)}. ` +
          'Policies share a letter if their difference is within three standard errors.'];
  return table(
      'ranking', caption,
      ['group', 'policy', ['regret ± se'], ['behind the best'], ['ns a round']],
      policies.map(
          p => row(
              cell(p.letters), rowHead(p.policy), numberCell(estimate(p.regret, p.regret_se)),
              numberCell(p.behind === 0 ? '' : difference(p.behind, p.behind_se)),
              numberCell(fixed(Number(costs.get(p.policy)), 0)))));
}

/* The letters of a policy at one swept value, small. */
const raised = letters => letters ? element('sup', {}, letters) : null;

function sweepTable(experiment) {
  const {run, standings} = experiment;
  const caption = ['Final regret ± se against ', element('code', {}, run.sweep_key),
      '; bold where the best is more than three standard errors ahead of the next. In a column, ' +
          'policies share a letter if their difference is within three standard errors.'];
  const rows = policiesOf(experiment)
                   .map(({name}) => row(rowHead(name), standings.map(({policies, clear}) => {
                          const at = policies.findIndex(p => p.policy === name),
                                found = policies[at];
                          return element(
                              'td', {class: clear && at === 0 ? 'n best' : 'n'},
                              found ? [estimate(found.regret, found.regret_se), raised(found.letters)] : '');
                        })));
  return table('ranking sweep', caption, ['policy', ...run.points.map(point => [point.sweep])], rows);
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
      element('summary', {}, sweep ? `At ${sweep}` : 'Every policy against every other'),
      element(
          'p', {},
          'Regret of the row minus regret of the column, ± its standard error, paired by ' +
              'replication. Coloured beyond three standard errors.'),
      element(
          'div', {class: 'wide', tabindex: 0},
          element('table', {class: 'matrix'}, heads, element('tbody', {}, rows))));
}

function drawStandings(experiment) {
  const {run, standings} = experiment;
  if (!run.points || standings.length === 0) return [];
  const pairs = standings.map(
      (standing, i) => standing.pairs ? pairTable(run.points[i].sweep, standing) : null);
  const all = run.sweep_key && pairs.some(Boolean)
      ? element(
            'details', {class: 'pairs'}, element('summary', {}, 'Every policy against every other'),
            pairs)
      : pairs;
  const notes = noteEntries(policiesOf(experiment).filter(policy => !isReleased(policy)));
  return [
    run.sweep_key ? sweepTable(experiment) : rankingTable(experiment, standings[0]),
    notes.length > 0 ? element('dl', {class: 'notes'}, notes) : null, all
  ].flat(Infinity).filter(Boolean);
}

const isReleased = ({name}) => name.endsWith(' (released)');

/* The two ends of a sweep; one, where both policies are the same at both. */
function endsOf({standings}, names) {
  const ends = [...new Set([0, standings.length - 1])];
  const regrets = ends.map(
      end => names.map(name => (standings[end].policies.find(p => p.policy === name) || {}).regret));
  return regrets.every(found => String(found) === String(regrets[0])) ? [0] : ends;
}

/* Every policy "X (released)" beside its "X", under the title of its experiment. */
function releasedRows(experiment) {
  const {run, standings} = experiment, names = policiesOf(experiment).map(p => p.name);
  const rows =
      policiesOf(experiment).filter(isReleased).map(p => p.name)
          .filter(name => names.includes(name.slice(0, -11)))
          .map(name => [name, endsOf(experiment, [name, name.slice(0, -11)])])
          .flatMap(([name, ends]) => ends.map(point => {
            const {policies, pairs} = standings[point],
                  sweep = ends.length > 1 && run.points[point].sweep;
            const printed = policies.findIndex(p => p.policy === name.slice(0, -11)),
                  released = policies.findIndex(p => p.policy === name);
            if (printed < 0 || released < 0) return null;
            const regret = at => numberCell(estimate(policies[at].regret, policies[at].regret_se)),
                  pair = pairs && pairs[released][printed];
            return row(
                rowHead(policies[printed].policy, sweep && `, at ${sweep}`), regret(printed),
                regret(released), numberCell(pair ? difference(...pair) : ''));
          }))
          .filter(Boolean);
  const head = element(
      'th', {colspan: 4, scope: 'colgroup'}, link(`#${experiment.name}`, titleOf(experiment)));
  return rows.length > 0 ? [row(head), ...rows] : [];
}

/* The notes of policies, each once, however many of them have it. */
function noteEntries(policies) {
  const seen = new Set();
  return policies.filter(({note}) => note && !seen.has(note) && seen.add(note))
      .flatMap(({name, note}) => [element('dt', {}, name), element('dd', {}, note)]);
}

function runRow(experiment) {
  const {name, run} = experiment, head = rowHead(link(`#${name}`, titleOf(experiment)));
  return !run ? row(head, element('td', {colspan: 4}, experiment.trouble))
              : row(head, numberCell(seconds(run.seconds)), numberCell(run.threads),
                    numberCell(seconds(run.threads * run.seconds)),
                    numberCell(run.points ? count(run.points[0].replications) : ''));
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

/* The title of a figure without the words that it begins with like its experiment, which is above it
 * in the contents; '' if nothing is left but a remark in parentheses. */
function shortTitle(experiment, figure) {
  const plain = words => words.replace(/[,:]$/, ''), words = figure.title.split(' ');
  const above = titleOf(experiment).split(' ');
  let same = 0;
  while (same < above.length && same < words.length && plain(words[same]) === plain(above[same]))
    same++;
  const rest = (same > 1 || same === above.length ? words.slice(same) : words).join(' ');
  return /^(\(.*\))?$/.test(rest) ? '' : rest[0].toUpperCase() + rest.slice(1);
}

/* Experiments, and under each its figures by title. */
function contents(experiments) {
  const entry = (id, words) => element('li', {}, link(`#${id}`, words));
  const figures = experiment =>
      figuresOf(experiment)
          .map(figure => [anchor(experiment, figure), shortTitle(experiment, figure)])
          .filter(([, words]) => words)
          .map(([id, words]) => entry(id, words));
  const parts = experiments.map(experiment => element(
                                    'li', {}, link(`#${anchor(experiment)}`, titleOf(experiment)),
                                    element('ul', {}, figures(experiment))));
  const ends = [['released', 'Printed against released'], ['runs', 'What was run']].filter(
      ([id]) => !document.getElementById(id).hidden);
  return element(
      'ul', {}, document.getElementById('claims').hidden ? null : entry('claims', 'The claims'),
      parts, ends.map(([id, words]) => entry(id, words)));
}

/* The figure on top: how regret depends on a wrong prior, else the first one that was drawn. */
function drawLead(experiments) {
  const drawn = experiments.flatMap(
      experiment => figuresOf(experiment)
                        .map((figure, i) => ({experiment, figure, drawn: experiment.figures[i]}))
                        .filter(candidate => candidate.drawn));
  const lead = drawn.find(({experiment}) => isMisspecified(experiment)) || drawn[0];
  if (!lead) return '';
  return element(
      'figure', {class: 'lead'}, drawPlots(lead.experiment, lead.figure, lead.drawn),
      element(
          'figcaption', {}, lead.figure.caption || lead.figure.title, ' ',
          link(`#${anchor(lead.experiment, lead.figure)}`, 'More about it')));
}

const PAPER = 'https://arxiv.org/abs/2301.10651';

/* What is said only if the experiments are those of the paper. */
function drawPaperWords() {
  const find = selector => document.querySelector(selector);
  const title = 'Overcoming prior misspecification: the paper, measured again';
  document.title = find('h1').textContent = title;
  find('#lede').append(
      'The experiments of ',
      link(PAPER, element('cite', {}, 'Overcoming Prior Misspecification in Online Learning to Rank')),
      ' (AISTATS 2023), run again.');
  find('#times').append(
      'The paper gives about 5 minutes on 48 cores for each synthetic experiment, that is 4 hours of ' +
      'one core.');
}

/* The last checkpoints of all experiments, as in summary.csv. */
function summaryRows(experiments) {
  const rows = experiments.flatMap(
      ({name, run, standings}) => standings.flatMap(
          ({policies}, i) => policies.map(
              p => [name, run.points[i].sweep, p.policy, p.round, p.regret, p.regret_se])));
  return [['experiment', 'sweep', 'policy', 'round', 'regret', 'regret_se'], ...rows];
}

function drawPage({notice, experiments}) {
  const find = selector => document.querySelector(selector);
  const fill = (selector, ...children) => find(selector).append(...children.flat(Infinity));
  if (page.paper) drawPaperWords();
  find('#notice').textContent = notice || '';
  find('#notice').hidden = !notice;
  fill('#result', story(experiments, page.paper).map(words => element('p', {}, words)));
  fill('#score', drawScore(experiments));
  fill('#lead', drawLead(experiments));
  fill('#claims .folded', experiments.map(foldedClaims));
  find('#claims').hidden = find('#claims .folded').childElementCount === 0;
  find('#claims').after(...experiments.map(drawExperiment));
  fill('#released tbody', experiments.map(releasedRows));
  fill('#released dl', noteEntries(experiments.flatMap(policiesOf).filter(isReleased)));
  find('#released').hidden = find('#released tbody').childElementCount === 0;
  find('#machine').textContent = machine(experiments);
  fill('#runs tbody', experiments.map(runRow));
  find('#files').prepend(
      saves('summary', 'summary.csv', 'text/csv', () => csv(summaryRows(experiments))), ' ',
      saves('all data of this page', 'page.json', 'application/json', () => JSON.stringify(page)), ' ');
  fill('#contents', contents(experiments));
  find('nav').hidden = find('main').hidden = false;
  find('nav details').open = wide.matches;
}

/* Charts are started when they come near the screen. */
function watchFigures() {
  const watcher = new IntersectionObserver(
      seen => seen.filter(entry => entry.isIntersecting).forEach(entry => {
        watcher.unobserve(entry.target);
        startFigure(entry.target);
      }),
      {rootMargin: '600px'});
  [...waiting.keys()].forEach(stage => watcher.observe(stage));
  dark.addEventListener('change', () => charts.forEach(chart => chart.recolour()));
  wide.addEventListener('change', () => {
    document.querySelector('nav details').open = wide.matches;
    charts.forEach(chart => chart.place(chart.graph));
  });
}

/* Pictures for paper and for charts that fail; not before the page is on the screen. */
function loadPictures() {
  document.querySelectorAll('.still').forEach(async picture => {
    const svg = await unpackPicture(picture.dataset.svg);
    picture.removeAttribute('data-svg');
    picture.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  });
}

/* A page that was sent by mail has no folder around it: links into the folder are shown only if a
 * figure can be loaded from it. */
function watchFolder({experiments}) {
  const [name] = experiments.filter(e => e.figures.some(Boolean));
  if (!name) return;
  const at = name.figures.findIndex(Boolean), probe = new Image();
  probe.addEventListener('load', () => document.documentElement.classList.add('in-folder'));
  probe.src = `${name.name}/${name.run.figures[at].file}.svg`;
}

/* Goes to the element of the address; its position is final, because charts do not change it. */
function follow() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target) target.scrollIntoView({behavior: 'instant'});
}

let page = {};
try {
  page = JSON.parse(document.getElementById('data').textContent);
  drawPage(page);
  watchFigures();
  watchFolder(page);
  follow();
  addEventListener('beforeprint', () => document.querySelectorAll('.claim details').forEach(d => {
    d.open = true;
  }));
  addEventListener('load', () => setTimeout(loadPictures, 200));
} catch (trouble) {
  document.getElementById('failure').hidden = false;
  throw trouble;
}
window.oltrReport = {
  startAll: () => [...waiting.keys()].forEach(startFigure),
  charts
};
