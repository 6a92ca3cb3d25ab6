/* story.js - the top of the page: three sentences of result, and how many claims hold.  Every
 * number comes from the results; the words depend on which experiments and policies there are. */

/* ---- three sentences ---- */

/* The regrets of one policy at all swept values, in their order; null if one is missing. */
function regretsOf({standings}, name) {
  const found = standings.map(({policies}) => policies.find(p => p.policy === name));
  return found.every(Boolean) ? found : null;
}

/* "goes from 84 to 193", or "stays between 120 and 125" if it never leaves a tenth of its start. */
function course(regrets) {
  const values = regrets.map(p => p.regret), low = Math.min(...values), high = Math.max(...values);
  const [first] = regrets, last = regrets[regrets.length - 1];
  const flat = Math.max(high - values[0], values[0] - low) <= values[0] / 10;
  return flat ? `stays between ${fixed(low, 1)} and ${fixed(high, 1)}`
              : `goes from ${estimate(first.regret, first.regret_se)} to ${
                    estimate(last.regret, last.regret_se)}`;
}

/* The paired difference of two policies at one swept value: [difference, standard error]. */
function pairedAt({policies, pairs}, name, other) {
  const at = label => policies.findIndex(p => p.policy === label);
  return pairs && at(name) >= 0 && at(other) >= 0 ? pairs[at(name)][at(other)] : null;
}

function compared(pair, other) {
  if (!pair) return '';
  const apart = Math.abs(pair[0]) > 3 * pair[1], size = estimate(Math.abs(pair[0]), pair[1]);
  return apart ? `${size} ${pair[0] > 0 ? 'above' : 'below'} ${other}`
               : `level with ${other} (${difference(...pair)})`;
}

/* Of a sweep over how wrong the prior is: who trusts it, who does not, and who learns it. */
function misspecificationSentences(experiment) {
  const {run, standings} = experiment, points = run.points.map(point => point.sweep);
  const ends = [points[0], points[points.length - 1]], [right] = standings;
  const trusting = regretsOf(experiment, 'TS-Beta'), careful = regretsOf(experiment, 'GTS-Pmean');
  const own = policiesOf(experiment).find(policy => policy.name === 'TS-Hyper'),
        learned = own && regretsOf(experiment, own.name);
  const start = `As the prior that policies are told goes wrong (c from ${ends[0]} to ${
      ends[1]}), the regret after ${count(right.policies[0].round)} rounds of `;
  const parts = [
    trusting && ['TS-Beta', `, which trusts it, ${course(trusting)}`],
    careful && ['GTS-Pmean', `, the paper’s robust choice, ${course(careful)}`]
  ].filter(Boolean);
  if (parts.length === 0) return [];
  const first = parts.map(([name, words], i) => [i > 0 ? '; that of ' : '', policyName(name), words]);
  const pair = own && pairedAt(right, own.name, 'TS-Beta');
  return [
    [start, ...first, '.'],
    learned ? [
      policyName(own.name), `, which learns how wrong its prior is, ${course(learned)}`,
      pair ? `; with the right prior it is ${compared(pair, 'TS-Beta')}` : '', '.',
      equals(experiment, own.name)
    ]
            : bestAtEnds(standings, ends)
  ];
}

/* Which other policies never have more regret than the largest of this one. */
function equals(experiment, name) {
  const most = label => Math.max(...(regretsOf(experiment, label) || []).map(p => p.regret));
  const low = policiesOf(experiment)
                  .map(policy => policy.name)
                  .filter(label => label !== name && most(label) > 0 && most(label) <= most(name));
  return low.length > 0 ? ` As low everywhere: ${listed(low)}.` : '';
}

const policyName = name => element('strong', {}, name);

function bestAtEnds(standings, ends) {
  const best = [standings[0], standings[standings.length - 1]].map(({policies}) => policies[0]);
  const [first, last] = best.map(({policy}) => policyName(policy)),
        [low, high] = best.map(p => estimate(p.regret, p.regret_se));
  return best[0].policy === best[1].policy
      ? [first, ` has the least regret at both ends of the sweep: ${low} and ${high}.`]
      : [
          `No policy is best at both ends: at ${ends[0]} it is `, first, ` with ${low}, at ${
              ends[1]} it is `,
          last, ` with ${high}.`
        ];
}

/* The result of any experiment. */
function resultSentence(experiment) {
  const {run, standings} = experiment, filled = standings.filter(s => s.policies.length > 0);
  if (filled.length === 0) return null;
  const head = [link(`#${experiment.name}`, run.title || experiment.name), ': '];
  if (filled.length > 1) {
    const wins = new Map();
    filled.forEach(({policies: [p]}) => wins.set(p.policy, (wins.get(p.policy) || 0) + 1));
    const [[name, times]] = [...wins].sort((a, b) => b[1] - a[1]);
    return [...head, policyName(name), ` has the least regret at ${times} of ${
        filled.length} values of ${run.sweep_key}.`];
  }
  const {policies, clear} = filled[0], [best, next] = policies;
  const alike = policies.slice(1).filter(
      p => [...p.letters].some(letter => best.letters.includes(letter)));
  const rest = !next ? ''
      : clear        ? `; the next, ${next.policy}, is ${estimate(next.behind, next.behind_se)} behind`
      : alike.length > 1 ? `; ${plural(alike.length, 'other')} cannot be told apart from it`
                         : `; ${next.policy} cannot be told apart from it`;
  return [
    ...head, policyName(best.policy), ` has the least regret after ${count(best.round)} rounds, ${
        estimate(best.regret, best.regret_se)}${rest}.`
  ];
}

const isMisspecified = ({run, standings}) =>
    run && run.sweep_key === 'world.misspecification' && standings.length > 1 &&
    standings.every(s => s.policies.length > 0);

/* At most three; of the paper, the last one is about its claims. */
function story(experiments, ofPaper) {
  const misspecified = ofPaper && experiments.find(isMisspecified),
        sentences = misspecified ? misspecificationSentences(misspecified) : [];
  const {printed} = tally(experiments);
  const claims = ofPaper && printed.total > 0 ? [[
    `Of the ${plural(printed.total, 'claim')} that the paper makes about these figures, tested as `,
    `printed and at its own settings, ${printed.holds} hold${printed.holds === 1 ? 's' : ''}, `,
    `${printed.fails} do${printed.fails === 1 ? 'es' : ''} not, and ${
        printed.inconclusive + printed.unmeasurable} could not be decided.`
  ]]
                                              : [];
  const others = experiments.filter(e => e.run && e !== misspecified)
                     .map(resultSentence)
                     .filter(Boolean);
  return [...sentences, ...others].slice(0, 3 - claims.length).concat(claims);
}

/* ---- the count ---- */

const counts = {
  printed: 'Claims of the paper, as printed, at its own settings',
  readings: 'its claims at other settings and readings',
  released: 'its claims with the released code',
  generated: 'its claims on generated data',
  ours: 'claims of our own'
};

/* Which count a test belongs to.  At the paper's own settings no policy is a variant. */
function kindOf({run}, claim, test) {
  const figure = run.figures.find(f => f.file === claim.figure), isPrinted = figure && figure.label;
  if (claim.source ? claim.source !== 'paper' : !isPrinted) return 'ours';
  if (run.generated) return 'generated';
  if (/^released/.test(test.of)) return 'released';
  const policies = test.less || test.more || test.close || [],
        isVariant = policies.some(name => / \(.*\)$/.test(name)); /* "GTS (sigma 1)" */
  return /^printed/.test(test.of) && isPrinted && !isVariant ? 'printed' : 'readings';
}

/* The weakest verdict decides. */
const weakest = verdictNames =>
    ['fails', 'inconclusive', 'unmeasurable', 'holds'].find(name => verdictNames.includes(name));

/* Of the printed kind each claim counts once, by the weakest of its tests; of the others every test
 * counts. */
function tally(experiments) {
  const table = {};
  Object.keys(counts).forEach(kind => {
    table[kind] = {holds: 0, fails: 0, inconclusive: 0, unmeasurable: 0, total: 0};
  });
  const add = (kind, verdictName) => {
    table[kind][verdictName]++;
    table[kind].total++;
  };
  experiments.filter(e => e.run).forEach(
      experiment => claimsOf(experiment).forEach(({claim, findings}) => {
        const kinds = claim.tests.map(test => kindOf(experiment, claim, test)),
              own = findings.filter((_, i) => kinds[i] === 'printed').map(f => f.verdict);
        if (own.length > 0) add('printed', weakest(own));
        findings.forEach((f, i) => kinds[i] !== 'printed' && add(kinds[i], f.verdict));
      }));
  return table;
}

/* The chips of one count; those of zero are left out. */
const chips = numbers =>
    Object.entries(verdicts)
        .filter(([name]) => numbers[name] > 0)
        .map(([name, [sign, one, many]]) => element(
                 'span', {class: `verdict ${name}`},
                 `${sign} ${numbers[name]} ${numbers[name] === 1 ? one : many}`))
        .flatMap(chip => [chip, ' ']);

function drawScore(experiments) {
  const table = tally(experiments), {printed} = table;
  const apart = Object.entries(table).filter(([kind, {total}]) => kind !== 'printed' && total > 0);
  const rows = apart.map(
      ([kind, numbers]) => element('li', {}, element('span', {}, counts[kind]), ' ', chips(numbers)));
  return [
    printed.total > 0 ? element('p', {class: 'score'}, element('b', {}, counts.printed), chips(printed))
                      : null,
    rows.length > 0 ? element(
                          'details', {class: 'apart'},
                          element(
                              'summary', {},
                              `${printed.total > 0 ? 'Counted apart: ' : ''}${plural(
                                  apart.reduce((sum, [, {total}]) => sum + total, 0), 'other test')}`),
                          element('ul', {}, rows))
                    : null
  ].filter(Boolean);
}
