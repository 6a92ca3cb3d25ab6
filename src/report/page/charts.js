/* charts.js - one interactive plot, drawn by dygraphs: the pointer or the arrow keys read values,
 * the names at the ends of the curves switch them, dragging, buttons and + and - zoom.  All of it
 * has its final size before dygraphs starts, so the page never moves under a reader.  element(),
 * estimate() and plainNumber() are in page.js; the files share one scope. */
const dark = window.matchMedia('(prefers-color-scheme: dark)'),
      wide = window.matchMedia('(min-width: 60.01rem)');

/* The colours are those of the drawn figures; on a dark page, dark ones are mixed with white. */
function shade(colour) {
  if (!dark.matches) return colour;
  const part = [1, 3, 5].map(i => parseInt(colour.slice(i, i + 2), 16));
  const light = (0.299 * part[0] + 0.587 * part[1] + 0.114 * part[2]) / 255;
  const mix = light < 0.2 ? 0.72 : light < 0.45 ? 0.38 : 0;
  return `rgb(${part.map(c => Math.round(c + (255 - c) * mix)).join(',')})`;
}

/* dygraphs takes the titles and ticks of its axes for markup. */
const escaped = words => element('span', {}, words).innerHTML;

const cssVariable = name =>
    getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function vector(name, attributes, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name);
  Object.entries(attributes).forEach(([key, value]) => e.setAttribute(key, value));
  e.append(...children);
  return e;
}

const POINT = 3.5; /* radius of a mark, in pixels */

/* A short piece of the curve, or one of its points, for its name. */
function swatch(curve, isPoint) {
  const colour = shade(curve.colour);
  const mark = isPoint
      ? vector('circle', {cx: 20, cy: 5, r: POINT + 0.5, fill: colour})
      : vector('line', {x1: 0, y1: 5, x2: 26, y2: 5, 'stroke-width': 2.6, stroke: colour});
  if (curve.dash && !isPoint) mark.setAttribute('stroke-dasharray', curve.dash.join(' '));
  return element(
      'span', {class: 'swatch'},
      vector('svg', {viewBox: '0 0 26 10', width: 26, height: 10, 'aria-hidden': 'true'}, mark));
}

/* Moves ascending places apart until neighbours have the distance `gap` and all lie in [low, high],
 * with the least squares of the moves: spread_places() in figures/end_labels.c. */
function spread(places, gap, low, high) {
  const room = high - low - gap * (places.length - 1), pools = [];
  if (room < 0) return places.map((_, i) => low + (high - low) * i / (places.length - 1));
  places.forEach((place, i) => {
    let pool = {sum: place - gap * i, count: 1};
    while (pools.length > 0) {
      const last = pools[pools.length - 1];
      if (last.sum / last.count <= pool.sum / pool.count) break;
      pool = {sum: last.sum + pool.sum, count: last.count + pool.count};
      pools.pop();
    }
    pools.push(pool);
  });
  return pools.flatMap(pool => Array(pool.count).fill(pool.sum / pool.count))
      .map((u, i) => Math.min(Math.max(u, low), low + room) + gap * i);
}

/* A number on an axis, which has room for seven characters. */
const axisNumber = value => Math.abs(value) >= 1e6 ? scientific(value) : plainNumber(value);

/* 1, 2 and 5 times powers of ten; only powers over a wide range. */
function logTicks(low, high) {
  const ticks = [], leads = high / low < 200 ? [1, 2, 5] : [1], most = high * (1 + 1e-9);
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= most; power *= 10)
    for (const lead of leads)
      if (lead * power >= low && lead * power <= most)
        ticks.push({v: Math.min(lead * power, high), label: axisNumber(lead * power)});
  return ticks;
}

const MOST_ENDS = 19; /* names that fit beside a chart */

/* data: a plot of page.json, and `bands` of its figure. */
class Chart {
  constructor(box, data) {
    this.data = data;
    this.step = data.errors ? 2 : 1; /* columns of a curve: its mean, and its standard error */
    this.row = -1;                   /* the row being read; -1: none */
    this.log = Boolean(data.log_y);
    this.area = element('div', {
      class: 'chart',
      tabindex: 0,
      role: 'application',
      'aria-label':
          `${data.title}. Left and right arrows read values, plus and minus zoom, Escape shows all.`
    });
    this.axis = element('p', {class: 'axis'}, data.y, this.note());
    box.style.setProperty('--ends', this.endsWidth());
    box.append(this.axis, this.legend(), this.area, this.buttons());
    this.area.addEventListener('keydown', event => this.key(event));
    this.read(-1);
  }

  /* What the bands are. */
  note() {
    const {errors, bands} = this.data;
    return errors && bands > 0 ? element('span', {}, ` ± ${bands} se`) : null;
  }

  /* Room for the longest name and its value. */
  endsWidth() {
    const longest = Math.max(...this.data.curves.map(curve => curve.name.length));
    return `${Math.min(27, (this.data.errors ? 10.6 : 6) + 0.52 * longest)}rem`;
  }

  /* Densities all end at zero: their names are a list. */
  isBeside() {
    return wide.matches && this.data.errors && this.entries.length <= MOST_ENDS;
  }

  start() {
    this.graph = new Dygraph(this.area, this.points(), this.options());
  }

  /* Rows as dygraphs takes them: [x, [mean, error], ...] or [x, value, ...]. */
  points() {
    const {rows, curves, errors} = this.data;
    return errors
        ? rows.map(
              row =>
                  [row[0],
                   ...curves.map(
                       (_, i) =>
                           row[1 + 2 * i] === null ? null : [row[1 + 2 * i], row[2 + 2 * i] || 0])])
        : rows;
  }

  /* The range of a logarithmic axis: without the steep start of curves over rounds. */
  logRange() {
    const {rows, curves, marks, log_x} = this.data, last = rows[rows.length - 1][0];
    const shown = rows.filter(row => marks || log_x || row[0] >= last / 100);
    const values = shown.flatMap(row => curves.map((_, i) => row[1 + i * this.step]))
                       .filter(value => value > 0);
    return values.length > 0 ? [0.8 * Math.min(...values), 1.25 * Math.max(...values)] : null;
  }

  options() {
    const data = this.data, model = Object.assign({}, Dygraph.defaultInteractionModel), series = {};
    for (const name of ['touchstart', 'touchmove', 'touchend', 'touchcancel'])
      delete model[name]; /* a finger scrolls the page; a tap reads */
    for (const curve of data.curves)
      series[curve.name] = {color: shade(curve.colour), strokePattern: curve.dash};
    const x = {
      axisLabelFormatter: axisNumber,
      valueFormatter: plainNumber,
      drawGrid: true,
      axisLabelWidth: this.hasWords() ? this.wordWidth() : 52,
      pixelsPerLabel: 58,
      logscale: Boolean(data.log_x)
    };
    if (data.ticks)
      x.ticker = () => data.ticks.map(([v, words]) => ({v, label: escaped(words)}));
    else if (data.log_x)
      x.ticker = logTicks;
    const first = data.rows[0][0], last = data.rows[data.rows.length - 1][0];
    const share = this.hasWords() ? 0.07 : 0.03;
    const margin = data.log_x ? (last / first) ** share
        : data.shifts         ? 0.4
                              : (last - first || 1) * share;
    const ends = data.log_x ? [first / margin, last * margin]
                            : [first - margin, last + margin]; /* room for marks and words */
    return {
      labels: [data.x, ...data.curves.map(c => c.name)],
      series,
      legend: 'never',
      interactionModel: model,
      errorBars: data.errors,
      sigma: data.bands,
      fillAlpha: 0.18,
      strokeWidth: 2,
      highlightCircleSize: 4,
      connectSeparatedPoints: true,
      drawPoints: Boolean(data.marks),
      pointSize: POINT,
      ...(data.shifts ? this.apart() : {}),
      rightGap: 26, /* half of the last tick's label */
      xLabelHeight: 18,
      xAxisHeight: this.hasWords() ? 7 + 13 * this.wordLines() : undefined,
      xlabel: escaped(data.x),
      dateWindow: data.marks ? ends : null,
      xRangePad: data.marks || data.log_x ? 0 : 4,
      gridLineColor: cssVariable('--grid'),
      axisLineColor: cssVariable('--line'),
      axes: {x, y: this.axisY()},
      ...this.scale(),
      highlightSeriesOpts: {strokeWidth: 3.5, highlightCircleSize: 5},
      highlightSeriesBackgroundAlpha: 1,
      highlightCallback: (event, at, points, row, name) => this.read(row, name),
      unhighlightCallback: () => this.read(-1),
      drawCallback: graph => this.place(graph),
      zoomCallback: () => {
        this.reset.disabled = !this.graph.isZoomed();
      }
    };
  }

  /* Points that are not joined, each with its error, side by side at one x. */
  apart() {
    const draw = ({dygraph, drawingContext: pen, plotArea, points, setName, color, strokeWidth}) => {
      const right = this.shift(dygraph, setName);
      const end = part => plotArea.y + plotArea.h * (Number.isFinite(part) ? part : 1);
      Object.assign(pen, {strokeStyle: color, fillStyle: color, lineWidth: strokeWidth});
      for (const point of points.filter(({yval}) => Number.isFinite(yval))) {
        const x = point.canvasx + right;
        pen.beginPath();
        pen.moveTo(x, end(point.y_top));
        pen.lineTo(x, end(point.y_bottom));
        pen.stroke();
        pen.beginPath();
        pen.arc(x, point.canvasy, POINT, 0, 2 * Math.PI);
        pen.fill();
      }
    };
    const highlight = (graph, name, pen, x, ...rest) =>
        Dygraph.Circles.DEFAULT(graph, name, pen, x + this.shift(graph, name), ...rest);
    return {plotter: draw, drawHighlightPointCallback: highlight};
  }

  /* How many pixels the points of a curve are right of their x. */
  shift(graph, name) {
    const {shifts, curves} = this.data, [from, to] = graph.xAxisRange();
    const far = shifts ? shifts[curves.findIndex(curve => curve.name === name)] : 0;
    return far * graph.getArea().w / (to - from);
  }

  /* Ticks that are words have room for up to three lines of them. */
  hasWords() {
    return Boolean(this.data.ticks) && this.data.ticks.some(([, words]) => words.length > 5);
  }

  wordWidth() {
    const across = this.area.clientWidth - 90;
    return Math.max(40, Math.min(120, Math.floor(across / (this.data.ticks.length - 1 || 1)) - 4));
  }

  /* A character is at most 7 pixels wide; a line breaks at a blank. */
  wordLines() {
    const most = Math.floor(this.wordWidth() / 7);
    const lines = words => words.split(' ').reduce(([count, length], {length: next}) =>
      length + 1 + next <= most ? [count, length + 1 + next] : [count + Math.ceil(next / most), next],
      [0, most])[0];
    return Math.min(3, Math.max(...this.data.ticks.map(([, words]) => lines(words))));
  }

  axisY() {
    const y = {axisLabelFormatter: axisNumber, axisLabelWidth: 52};
    return Object.assign(y, {ticker: this.log ? logTicks : Dygraph.numericTicks});
  }

  scale() {
    return {
      logscale: this.log,
      includeZero: !this.log && this.data.from_zero !== false,
      valueRange: this.log ? this.logRange() : null
    };
  }

  /* ---- names at the ends of the curves ---- */

  legend() {
    this.title = element('legend', {'aria-live': 'polite'});
    this.leaders = vector('svg', {class: 'leaders', 'aria-hidden': 'true'});
    this.entries = this.data.curves.map((curve, i) => {
      const input = element('input', {type: 'checkbox', checked: ''}), value = element('output');
      input.addEventListener('change', () => this.show(i, input.checked));
      const label = element(
          'label', {title: `Show or hide ${curve.name}`}, input, this.swatch(curve),
          element('span', {class: 'name'}, curve.name), value);
      return {input, value, label};
    });
    const names = element('div', {class: 'ends'}, this.entries.map(entry => entry.label));
    names.append(this.leaders);
    return element(
        'fieldset', {class: this.data.errors && this.entries.length <= MOST_ENDS ? 'legend' : 'legend many'},
        this.title, names);
  }

  swatch(curve) { return swatch(curve, Boolean(this.data.shifts)); }

  /* Puts every name beside the end of its curve, as near as the other names allow. */
  place(graph) {
    const names = this.leaders.parentNode, {rows} = this.data;
    this.leaders.replaceChildren();
    if (!this.isBeside()) return this.entries.forEach(entry => entry.label.style.removeProperty('top'));
    const to = graph.xAxisRange()[1], {clientHeight: height, clientWidth: width} = this.area;
    const [low, high] = graph.yAxisRange();
    const last = rows.filter(row => row[0] <= to).pop() || rows[rows.length - 1];
    const ends = this.entries.map((entry, i) => {
      const value = Math.min(Math.max(last[1 + i * this.step], low), high);
      return {entry, curve: this.data.curves[i], y: graph.toDomYCoord(value)};
    });
    const {x: left, w: across} = graph.getArea(); /* toDomXCoord() is for linear axes only */
    const from = left + graph.toPercentXCoord(last[0]) * across - width;
    ends.sort((a, b) => a.y - b.y);
    const gap = this.entries[0].label.offsetHeight + 1;
    const middles = spread(ends.map(end => end.y), gap, gap / 2, height - gap / 2);
    ends.forEach(({entry, curve, y}, i) => {
      const x1 = from + this.shift(graph, curve.name), y2 = middles[i];
      entry.label.style.top = `${y2 - gap / 2}px`;
      if (entry.input.checked)
        this.leaders.append(vector(
            'line', {x1, y1: y, x2: 18, y2, stroke: shade(curve.colour), 'stroke-width': 1}));
    });
    this.leaders.setAttribute('height', height);
    names.style.height = `${height}px`;
  }

  /* ---- buttons ---- */

  buttons() {
    const button = (words, hint, act) => {
      const b = element('button', {type: 'button', title: hint, 'aria-label': hint}, words);
      b.addEventListener('click', act);
      return b;
    };
    this.reset = button('Reset', 'Reset the zoom', () => this.zoomOut());
    this.reset.disabled = true;
    this.scaleButton = button('', '', () => this.setLog(!this.log));
    this.nameScale();
    return element(
        'div', {class: 'buttons'}, this.data.errors ? this.scaleButton : null,
        button('+', 'Zoom in', () => this.zoom(0.5)), button('−', 'Zoom out', () => this.zoom(2)),
        this.reset, button('All', 'Show all curves', () => this.showAll(true)),
        button('None', 'Hide all curves', () => this.showAll(false)));
  }

  nameScale() {
    const hint = this.log ? 'Linear axis' : 'Logarithmic axis';
    this.scaleButton.textContent = this.log ? 'Linear' : 'Log';
    this.scaleButton.title = hint;
    this.scaleButton.setAttribute('aria-label', hint);
  }

  setLog(on) {
    this.log = on;
    this.nameScale();
    this.graph.updateOptions({...this.scale(), axes: {y: this.axisY()}});
  }

  show(i, on) {
    this.entries[i].input.checked = on;
    this.entries[i].label.classList.toggle('off', !on);
    this.graph.setVisibility(i, on);
  }

  showAll(on) { this.entries.forEach((entry, i) => this.show(i, on)); }

  /* ---- reading ---- */

  /* Writes the values at one row beside the names; row -1: those at the end, and of curves without
   * errors none. */
  read(row, name) {
    const data = this.data, values = data.rows[row < 0 ? data.rows.length - 1 : row],
          blank = row < 0 && !data.errors;
    const tick = data.ticks && data.ticks.find(t => t[0] === values[0]),
          at = tick ? tick[1] : plainNumber(values[0]);
    const symbol = /(?:^| )(\S)$/.exec(data.x); /* "misspecification c": c */
    this.row = row;
    this.title.textContent =
        blank ? '\u00a0' : `${symbol ? symbol[1] : data.x} ${data.marks ? '= ' : ''}${at}`;
    this.entries.forEach((entry, i) => {
      const value = values[1 + i * this.step], error = data.errors ? values[2 + i * this.step] : 0;
      entry.value.textContent = blank || value === null ? ''
          : error                                       ? estimate(value, error)
                                                        : plainNumber(value);
      entry.label.classList.toggle('near', row >= 0 && data.curves[i].name === name);
    });
  }

  zoom(factor) {
    const [from, to] = this.graph.xAxisRange(), [least, most] = this.graph.xAxisExtremes();
    const middle = this.row >= 0 ? this.data.rows[this.row][0] : (from + to) / 2,
          half = (to - from) * factor / 2;
    const low = Math.max(least, middle - half), high = Math.min(most, low + 2 * half);
    if (high - low >= (most - least) * 0.999) return this.zoomOut();
    this.graph.updateOptions({dateWindow: [Math.max(least, high - 2 * half), high]});
    this.reset.disabled = false;
  }

  zoomOut() {
    this.graph.resetZoom();
    const {dateWindow, valueRange} = this.options();
    this.graph.updateOptions({dateWindow, valueRange});
    this.reset.disabled = true;
  }

  key(event) {
    const last = this.data.rows.length - 1,
          steps = {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10},
          step = steps[event.key];
    const read = row => {
      this.graph.setSelection(row);
      this.read(row);
    };
    if (step)
      read(this.row < 0 ? (step > 0 ? 0 : last) : Math.min(last, Math.max(0, this.row + step)));
    else if (event.key === 'Home')
      read(0);
    else if (event.key === 'End')
      read(last);
    else if (event.key === '+' || event.key === '=')
      this.zoom(0.5);
    else if (event.key === '-')
      this.zoom(2);
    else if (event.key === 'Escape') {
      this.graph.clearSelection();
      this.zoomOut();
      this.read(-1);
    } else
      return;
    event.preventDefault();
  }

  recolour() {
    const {series, gridLineColor, axisLineColor} = this.options();
    this.graph.updateOptions({series, gridLineColor, axisLineColor});
    this.entries.forEach(
        (entry, i) => entry.label.querySelector('.swatch').replaceWith(this.swatch(this.data.curves[i])));
  }
}
