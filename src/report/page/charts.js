/* charts.js - one interactive plot, drawn by dygraphs: the pointer or the arrow keys read values,
 * the legend switches curves, dragging, buttons and + and - zoom.  element(), estimate() and
 * plainNumber() are in page.js; both files share one scope. */
const dark = window.matchMedia('(prefers-color-scheme: dark)');

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

/* A short piece of the curve, for the legend. */
function swatch(curve) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg'),
        line = document.createElementNS(svg.namespaceURI, 'line');
  const set = (e, attributes) =>
      Object.entries(attributes).forEach(([key, value]) => e.setAttribute(key, value));
  set(svg, {viewBox: '0 0 34 10', width: 34, height: 10, 'aria-hidden': 'true'});
  set(line, {x1: 0, y1: 5, x2: 34, y2: 5, 'stroke-width': 2.6, stroke: shade(curve.colour)});
  if (curve.dash) line.setAttribute('stroke-dasharray', curve.dash.join(' '));
  svg.append(line);
  return element('span', {}, svg);
}

/* data: a plot of page.json with `bands`, `log`, `marks` (a point at each value) and `ticks` of its
 * figure. */
class Chart {
  constructor(box, data) {
    this.data = data;
    this.step = data.errors ? 2 : 1; /* columns of a curve: its mean, and its standard error */
    this.row = -1;                   /* the row being read; -1: none */
    this.area = element('div', {
      class: 'chart',
      tabindex: 0,
      role: 'application',
      'aria-label':
          `${data.title}. Left and right arrows read values, plus and minus zoom, Escape shows all.`
    });
    box.append(this.area, this.legend());
    this.graph = new Dygraph(this.area, this.points(), this.options());
    this.area.addEventListener('keydown', event => this.key(event));
    this.read(-1);
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

  options() {
    const data = this.data, model = Object.assign({}, Dygraph.defaultInteractionModel), series = {};
    for (const name of ['touchstart', 'touchmove', 'touchend', 'touchcancel'])
      delete model[name]; /* a finger scrolls the page; a tap reads */
    for (const curve of data.curves)
      series[curve.name] = {color: shade(curve.colour), strokePattern: curve.dash};
    const x = {
      axisLabelFormatter: plainNumber,
      valueFormatter: plainNumber,
      drawGrid: true,
      axisLabelWidth: 60
    };
    if (data.ticks) x.ticker = () => data.ticks.map(([v, words]) => ({v, label: escaped(words)}));
    const first = data.rows[0][0], last = data.rows[data.rows.length - 1][0];
    const log = x.logscale = data.log && first > 0 && last > first,
          margin = log ? (last / first) ** 0.04 : (last - first || 1) * 0.04;
    const wide = log ? [first / margin, last * margin]
                     : [first - margin, last + margin]; /* room for the marks at both ends */
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
      drawPoints: data.marks,
      pointSize: 3.5,
      rightGap: 24,
      xLabelHeight: 16,
      yLabelWidth: 16,
      xlabel: escaped(data.x === 'world.misspecification' ? 'misspecification c' : data.x),
      ylabel: escaped(data.y),
      dateWindow: data.marks ? wide : null,
      xRangePad: data.marks || log ? 0 : 4,
      includeZero: !data.log,
      logscale: data.log,
      gridLineColor: cssVariable('--grid'),
      axisLineColor: cssVariable('--line'),
      axes: {x, y: {axisLabelFormatter: plainNumber, axisLabelWidth: 52}},
      highlightSeriesOpts: {strokeWidth: 3.5, highlightCircleSize: 5},
      highlightSeriesBackgroundAlpha: 1,
      highlightCallback: (event, at, points, row, name) => this.read(row, name),
      unhighlightCallback: () => this.read(-1),
      zoomCallback: () => {
        this.reset.disabled = !this.graph.isZoomed();
      }
    };
  }

  legend() {
    this.title = element('legend', {'aria-live': 'polite'});
    this.entries = this.data.curves.map((curve, i) => {
      const input = element('input', {type: 'checkbox', checked: ''}), value = element('output');
      input.addEventListener('change', () => this.show(i, input.checked));
      return {
        input,
        value,
        label: element('label', {}, input, swatch(curve), element('span', {}, curve.name), value)
      };
    });
    const labels = element('div', {class: 'entries'}, this.entries.map(entry => entry.label));
    return element(
        'div', {class: 'legend'}, element('fieldset', {}, this.title, labels), this.buttons());
  }

  buttons() {
    const button = (words, hint, act) => {
      const b = element('button', {type: 'button', title: hint, 'aria-label': hint}, words);
      b.addEventListener('click', act);
      return b;
    };
    this.reset = button('Reset', 'Reset the zoom', () => this.zoomOut());
    this.reset.disabled = true;
    return element(
        'div', {class: 'buttons'}, button('+', 'Zoom in', () => this.zoom(0.5)),
        button('−', 'Zoom out', () => this.zoom(2)), this.reset,
        button('All', 'Show all curves', () => this.showAll(true)),
        button('None', 'Hide all curves', () => this.showAll(false)));
  }

  show(i, on) {
    this.entries[i].input.checked = on;
    this.entries[i].label.classList.toggle('off', !on);
    this.graph.setVisibility(i, on);
  }

  showAll(on) { this.entries.forEach((entry, i) => this.show(i, on)); }

  /* Writes the values at one row beside the names; row -1: those at the end, and of curves without
   * errors none. */
  read(row, name) {
    const data = this.data, values = data.rows[row < 0 ? data.rows.length - 1 : row],
          blank = row < 0 && !data.errors;
    const tick = data.ticks && data.ticks.find(t => t[0] === values[0]),
          at = tick ? tick[1] : plainNumber(values[0]);
    this.row = row;
    this.title.textContent = blank
        ? ''
        : `${data.x === 'world.misspecification' ? 'c' : data.x} ${data.ticks ? '= ' : ''}${at}`;
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
    if (this.data.marks) this.graph.updateOptions({dateWindow: this.options().dateWindow});
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
        (entry, i) => entry.label.children[1].replaceWith(swatch(this.data.curves[i])));
  }
}
