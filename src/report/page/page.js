/* page.js - makes the plots of a report live: hover or arrow keys show values, the legend switches curves, drag or buttons zoom.
 * Without it, the drawn figures stand in their place. */
(function () {
  'use strict';
  var dark = window.matchMedia('(prefers-color-scheme: dark)');
  var charts = [];

  function element(name, attributes, words) {
    var e = document.createElement(name);
    Object.keys(attributes || {}).forEach(function (key) { e.setAttribute(key, attributes[key]); });
    if (words !== undefined) e.textContent = words;
    return e;
  }

  /* On a dark page, colours that would drown in it are lightened; all others are those of the drawn figures. */
  function shade(colour) {
    if (!dark.matches) return colour;
    var part = [1, 3, 5].map(function (i) { return parseInt(colour.substr(i, 2), 16); });
    var light = (0.299 * part[0] + 0.587 * part[1] + 0.114 * part[2]) / 255;
    var mix = light < 0.2 ? 0.72 : light < 0.45 ? 0.38 : 0;
    return 'rgb(' + part.map(function (c) { return Math.round(c + (255 - c) * mix); }).join(',') + ')';
  }

  function variable(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

  function number(value) {
    if (value === 0) return '0';
    var size = Math.abs(value);
    return size >= 1e7 || size < 1e-4 ? value.toExponential(2)
      : value.toLocaleString('en', { maximumFractionDigits: size >= 100 ? 1 : size >= 1 ? 2 : 4 });
  }

  /* As many digits as the error deserves, like everywhere on the page. */
  function estimate(value, error) {
    if (value === null || !error) return value === null ? '' : number(value);
    var digits = Math.min(6, Math.max(1, -Math.floor(Math.log10(error))));
    return value.toFixed(digits) + ' ± ' + error.toFixed(digits);
  }

  function rowsOf(data) {
    if (!data.errors) return data.rows;
    return data.rows.map(function (row) {
      var out = [row[0]];
      for (var i = 1; i < row.length; i += 2) out.push(row[i] === null ? null : [row[i], row[i + 1] || 0]);
      return out;
    });
  }

  function swatch(curve) {
    var svg = '<svg viewBox="0 0 34 10" width="34" height="10" aria-hidden="true"><line x1="0" y1="5" x2="34" y2="5" stroke-width="2.6" stroke="' +
      shade(curve.colour) + '"' + (curve.dash ? ' stroke-dasharray="' + curve.dash.map(Number).join(' ') + '"' : '') + '/></svg>';
    var span = element('span');
    span.innerHTML = svg;
    return span;
  }

  function Chart(box, data) {
    this.data = data;
    this.rows = rowsOf(data);
    this.row = -1;
    if (box.parentNode.querySelectorAll('.plot').length > 1) {
      box.parentNode.classList.add('several');
      box.appendChild(element('p', { 'class': 'panel-title' }, data.title));
    }
    this.area = element('div', { 'class': 'chart', tabindex: '0', role: 'application',
      'aria-label': data.title + '. Left and right arrows read values, plus and minus zoom, Escape shows all.' });
    box.appendChild(this.area);
    box.appendChild(this.legend());
    this.graph = new Dygraph(this.area, this.rows, this.options());
    this.area.addEventListener('keydown', this.key.bind(this));
    this.read(-1);
  }

  Chart.prototype.options = function () {
    var data = this.data, self = this, series = {}, model = Object.assign({}, Dygraph.defaultInteractionModel);
    ['touchstart', 'touchmove', 'touchend', 'touchcancel'].forEach(function (name) { delete model[name]; }); /* a finger scrolls the page; a tap reads */
    data.curves.forEach(function (curve) {
      series[curve.name] = { color: shade(curve.colour), strokePattern: curve.dash || null };
    });
    var x = { axisLabelFormatter: number, valueFormatter: number, drawGrid: true, axisLabelWidth: 60 };
    if (data.ticks) x.ticker = function () { return data.ticks.map(function (t) { return { v: t[0], label: t[1] }; }); };
    if (data.log) x.logscale = true;
    var first = data.rows[0][0], last = data.rows[data.rows.length - 1][0], margin = data.marks ? (last - first || 1) * 0.04 : 0;
    return {
      labels: [data.x].concat(data.curves.map(function (c) { return c.name; })), series: series, legend: 'never', interactionModel: model,
      errorBars: data.errors, sigma: data.bands, fillAlpha: 0.18, strokeWidth: 2, highlightCircleSize: 4, connectSeparatedPoints: true,
      drawPoints: data.marks, pointSize: 3.5, rightGap: 24, xlabel: data.x === 'world.misspecification' ? 'misspecification c' : data.x, ylabel: data.y, xLabelHeight: 16, yLabelWidth: 16,
      dateWindow: data.marks ? [first - margin, last + margin] : null, xRangePad: data.marks ? 0 : 4, includeZero: !data.log, logscale: data.log,
      gridLineColor: variable('--grid'), axisLineColor: variable('--line'), axes: { x: x, y: { axisLabelFormatter: number, axisLabelWidth: 52 } },
      highlightSeriesOpts: { strokeWidth: 3.5, highlightCircleSize: 5 }, highlightSeriesBackgroundAlpha: 1,
      highlightCallback: function (event, at, points, row, name) { self.read(row, name); },
      unhighlightCallback: function () { self.read(-1); },
      zoomCallback: function () { self.reset.disabled = !self.graph.isZoomed(); }
    };
  };

  Chart.prototype.legend = function () {
    var self = this, box = element('div', { 'class': 'legend' }), set = element('fieldset'), entries = element('div', { 'class': 'entries' });
    this.title = element('legend', { 'aria-live': 'polite' });
    set.appendChild(this.title);
    this.entries = this.data.curves.map(function (curve, i) {
      var label = element('label'), input = element('input', { type: 'checkbox', checked: '' }), value = element('output');
      label.appendChild(input);
      label.appendChild(swatch(curve));
      label.appendChild(element('span', {}, curve.name));
      label.appendChild(value);
      input.addEventListener('change', function () { self.show(i, input.checked); });
      entries.appendChild(label);
      return { label: label, input: input, value: value };
    });
    set.appendChild(entries);
    box.appendChild(set);
    box.appendChild(this.buttons());
    return box;
  };

  Chart.prototype.buttons = function () {
    var self = this, box = element('div', { 'class': 'buttons' });
    function button(words, hint, act) {
      var b = element('button', { type: 'button', title: hint, 'aria-label': hint }, words);
      b.addEventListener('click', act);
      box.appendChild(b);
      return b;
    }
    button('+', 'Zoom in', function () { self.zoom(0.5); });
    button('−', 'Zoom out', function () { self.zoom(2); });
    this.reset = button('Reset', 'Reset the zoom', function () { self.zoomOut(); });
    this.reset.disabled = true;
    button('All', 'Show all curves', function () { self.showAll(true); });
    button('None', 'Hide all curves', function () { self.showAll(false); });
    return box;
  };

  Chart.prototype.show = function (i, on) {
    this.entries[i].input.checked = on;
    this.entries[i].label.classList.toggle('off', !on);
    this.graph.setVisibility(i, on);
  };

  Chart.prototype.showAll = function (on) { for (var i = 0; i < this.entries.length; i++) this.show(i, on); };

  /* The values at one row beside the names; row -1: those at the end. */
  Chart.prototype.read = function (row, name) {
    var data = this.data, at = row < 0 ? data.rows.length - 1 : row, step = data.errors ? 2 : 1, label;
    this.row = row;
    label = data.ticks ? (data.ticks.filter(function (t) { return t[0] === data.rows[at][0]; })[0] || [0, number(data.rows[at][0])])[1] : number(data.rows[at][0]);
    this.title.textContent = row < 0 && !data.errors ? '' : (data.x === 'world.misspecification' ? 'c' : data.x) + ' ' + (data.ticks ? '= ' : '') + label;
    this.entries.forEach(function (entry, i) {
      var value = data.rows[at][1 + i * step];
      entry.value.textContent = row < 0 && !data.errors ? '' : estimate(value, data.errors ? data.rows[at][2 + i * step] : 0);
      entry.label.classList.toggle('near', row >= 0 && data.curves[i].name === name);
    });
  };

  Chart.prototype.zoom = function (factor) {
    var range = this.graph.xAxisRange(), all = this.graph.xAxisExtremes(), middle = this.row >= 0 ? this.data.rows[this.row][0] : (range[0] + range[1]) / 2;
    var half = (range[1] - range[0]) * factor / 2, low = Math.max(all[0], middle - half), high = Math.min(all[1], low + 2 * half);
    if (high - low >= (all[1] - all[0]) * 0.999) return this.zoomOut();
    this.graph.updateOptions({ dateWindow: [Math.max(all[0], high - 2 * half), high] });
    this.reset.disabled = false;
  };

  Chart.prototype.zoomOut = function () {
    this.graph.resetZoom();
    if (this.data.marks) this.graph.updateOptions({ dateWindow: this.options().dateWindow });
    this.reset.disabled = true;
  };

  Chart.prototype.key = function (event) {
    var last = this.rows.length - 1, row = this.row, keys = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
    if (event.key in keys) row = row < 0 ? (keys[event.key] > 0 ? 0 : last) : Math.min(last, Math.max(0, row + keys[event.key]));
    else if (event.key === 'Home') row = 0;
    else if (event.key === 'End') row = last;
    else if (event.key === '+' || event.key === '=') { this.zoom(0.5); event.preventDefault(); return; }
    else if (event.key === '-') { this.zoom(2); event.preventDefault(); return; }
    else if (event.key === 'Escape') { this.graph.clearSelection(); this.zoomOut(); this.read(-1); return; }
    else return;
    event.preventDefault();
    this.graph.setSelection(row);
    this.read(row);
  };

  Chart.prototype.recolour = function () {
    var self = this, options = this.options();
    this.graph.updateOptions({ series: options.series, gridLineColor: options.gridLineColor, axisLineColor: options.axisLineColor });
    this.entries.forEach(function (entry, i) { entry.label.replaceChild(swatch(self.data.curves[i]), entry.label.children[1]); });
  };

  function start(figure) {
    if (figure.dataset.started) return;
    figure.dataset.started = 'yes';
    figure.classList.add('live');
    try {
      figure.querySelectorAll('.plot').forEach(function (box) {
        charts.push(new Chart(box, JSON.parse(box.querySelector('script').textContent)));
      });
    } catch (trouble) {
      figure.classList.remove('live'); /* the drawn figure comes back */
      console.error(trouble);
    }
  }

  var figures = Array.prototype.filter.call(document.querySelectorAll('.figure'), function (f) { return f.querySelector('.plot'); });
  var watcher = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) { if (entry.isIntersecting) { watcher.unobserve(entry.target); start(entry.target); } });
  }, { rootMargin: '600px' });
  figures.forEach(function (figure) { watcher.observe(figure); });
  dark.addEventListener('change', function () { charts.forEach(function (chart) { chart.recolour(); }); });
  window.oltrReport = { startAll: function () { figures.forEach(start); }, charts: charts };
})();
