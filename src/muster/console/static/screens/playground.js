// The playground: an expression, labels or a whole placement, answered while it is typed.
import {css, html, nothing} from '../../third_party/lit.js';
import {ask, fromYaml, get, list, path, request, toYaml} from '../lib/api.js';
import {asked, words} from '../lib/commands.js';
import {counted, number, points, share, value} from '../lib/format.js';
import {Live} from '../lib/live.js';
import {go, note, to} from '../lib/router.js';
import {Screen} from '../lib/screen.js';
import {parseSelector} from '../lib/selectors.js';
import {Task} from '../lib/task.js';
import {sign, signStyles} from '../parts/small.js';
import '../parts/editor.js';
import {PAGE} from '../parts/rows.js';

const START = `managedCluster.metadata.labels.cloud == 'Amazon'`;
const YAML = `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: new-placement
  namespace: default
spec:
  numberOfClusters: 3
  predicates:
  - requiredClusterSelector:
      labelSelector:
        matchLabels:
          cloud: Amazon
`;
const MODES = {cel: 'CEL', labels: 'labels', claims: 'claims', yaml: 'whole placement (YAML)'};
const EXAMPLES = {
  cel: [
    `semver(managedCluster.status.version.kubernetes, true).isGreaterThan(semver("v1.30.0", true))`,
    `managedCluster.status.clusterClaims.exists(c, c.name == "platform.open-cluster-management.io" && c.value == "Azure")`,
    `quantity(managedCluster.status.capacity.cpu).isGreaterThan(quantity("200"))`,
    `managedCluster.metadata.labels.region`,
  ],
  labels: ['cloud in (Amazon,Azure),tier!=bronze', 'accelerator', '!accelerator,environment=prod'],
  claims: ['controlplanetopology.openshift.io=HighlyAvailable'],
};
const VERDICTS = {Matched: 'yes', Unmatched: 'no', Failed: 'error'};

const ROWS = ['All', 'Matched', 'Unmatched', 'Failed'];

export class Playground extends Screen {
  static properties = {...Screen.properties, mode: {state: true}, text: {state: true}, show: {state: true}, compare: {state: true}, namespace: {state: true},
    fetcher: {state: true}, saving: {state: true}, refused: {state: true}};
  static styles = [...Screen.styles, signStyles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s4); align-content: start; }
    .columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: var(--s5); align-items: start; }
    .tabs { display: flex; gap: 2px; flex-wrap: wrap; }
    .tabs button { border: 0; background: none; color: var(--faint); padding: 5px 10px; }
    .tabs button[aria-selected=true] { color: var(--ink); background: var(--hover); font-weight: 500; }
    m-editor { min-height: 176px; }
    .tries { display: flex; gap: var(--s4); flex-wrap: wrap; align-items: center; }
    .tries label { display: flex; gap: var(--s2); align-items: center; color: var(--faint); }
    select { max-width: 220px; }
    .counts { display: grid; grid-template-columns: repeat(3, auto) 1fr; gap: var(--s1) var(--s5); align-items: baseline; }
    .counts b { font: 600 22px/28px var(--sans); margin-inline-end: 5px; font-variant-numeric: tabular-nums; }
    .counts button { border: 0; background: none; padding: 2px 4px; text-align: start; margin-inline-start: -4px; }
    .counts button[aria-pressed=true] { background: var(--hover); }
    .stacked { display: flex; height: 8px; gap: 1px; border-radius: 2px; overflow: hidden; background: var(--line); }
    .stacked .bar { border-radius: 0; height: 8px; transition: width var(--fade); }
    .values { display: grid; grid-template-columns: minmax(0, auto) minmax(40px, 1fr) auto; gap: 3px var(--s3); align-items: center; max-height: 190px; overflow: auto; }
    .problems li { padding: 3px 0; display: grid; grid-template-columns: 1.5em 1fr auto; gap: 0 var(--s1); }
    m-rows { height: max(300px, calc(100vh - 260px)); }
    .examples { display: grid; gap: var(--s1); justify-items: start; }
    .examples button { text-align: start; font: 12px/18px var(--mono); overflow-wrap: anywhere; color: var(--faint); }
    .examples button:hover { color: var(--accent); }
    .way { padding: 0; }
    dialog { border: 1px solid var(--line); border-radius: 10px; background: var(--raised); color: var(--ink); box-shadow: var(--shadow); width: min(480px, 94vw); padding: var(--s5); }
    dialog::backdrop { background: rgb(0 0 0 / 25%); }
    form { display: grid; gap: var(--s3); } form label { display: grid; gap: var(--s1); }
    @media (max-width: 980px) { .columns { grid-template-columns: minmax(0, 1fr); } }
  `];

  #texts = {cel: START, labels: 'cloud=Amazon', claims: 'platform.open-cluster-management.io=Amazon', yaml: YAML};
  #answer = new Task(this, (signal) => this.#evaluate(signal));
  #compared = new Task(this, (signal) => this.#compareWith(signal));
  #choices = new Task(this, async (signal) => (await list('placements', {signal})).items);
  #keys = new Task(this, async (signal) => (await ask('FleetFacets', {facets: ['label'], mostKeys: 200, mostValues: 0}, signal)).facets.map((each) => each.key));
  #live = new Live(this, ['managedclusters'], () => this.#answer.refresh());
  #asked = {};

  constructor() {
    super();
    Object.assign(this, {mode: 'cel', text: START, show: 'All', compare: '', namespace: ''});
  }

  get heading() { return 'Playground'; }

  get commands() {
    const muster = this.mode === 'cel' ? words('muster', 'select', this.text) : this.mode === 'labels' ? words('muster', 'select', '-l', this.text) : '';
    return asked('FleetEvaluation', this.#asked, muster);
  }

  async arrived() {
    const [mode, text, saved] = ['mode', 'text', 'placement'].map((key) => this.query.get(key));
    this.mode = Object.hasOwn(MODES, mode) ? mode : saved ? 'yaml' : 'cel';
    this.namespace = this.query.get('namespace') ?? '';
    this.compare = this.query.get('compare') ?? saved ?? '';
    this.show = ROWS.includes(this.query.get('show')) ? this.query.get('show') : this.#usual;
    if (text !== null) this.#texts[this.mode] = text;
    this.text = this.#texts[this.mode];
    this.#choices.run();
    this.#keys.run();
    if (saved && text === null) {
      const [namespace, name] = saved.split('/');
      const {apiVersion, kind, metadata, spec} = await get('placements', {namespace, name});
      this.text = this.#texts.yaml = await toYaml({apiVersion, kind, metadata: {name: metadata.name, namespace: metadata.namespace}, spec});
    }
    this.#ask();
  }

  #note() {
    note(to.playground({mode: this.mode === 'cel' ? '' : this.mode, text: this.text, compare: this.compare, namespace: this.namespace, show: this.show === this.#usual ? '' : this.show}));
  }

  /** The rows that are shown before somebody chooses. */
  get #usual() { return this.mode === 'yaml' ? 'Matched' : 'All'; }

  #ask() {
    this.typed = performance.now();
    this.#answer.run();
    if (this.compare) this.#compared.run();
    else this.#compared.reset();
  }

  #edited({detail}) {
    if (detail === this.text) return;
    this.text = this.#texts[this.mode] = detail;
    this.#note();
    this.#ask();
  }

  #choose(mode) {
    this.mode = mode;
    this.show = this.#usual;
    this.text = this.#texts[mode];
    this.#note();
    this.#ask();
  }

  /** What is asked, as the question has it; {problem} for a text that says nothing yet. */
  async #chosen(signal) {
    if (this.mode === 'cel') return {expression: this.text};
    if (this.mode === 'yaml') {
      const {objects, problem, line} = await fromYaml(this.text, signal);
      if (problem) return {problem: {message: problem, line, severity: 'error'}};
      const placement = objects.find((each) => each?.kind === 'Placement');
      return placement ? {placement} : {problem: {message: 'write one Placement', severity: 'error', from: 0, to: 0}};
    }
    const {selector, problem, from, to: end} = parseSelector(this.text);
    if (problem) return {problem: {message: problem, from: points(this.text, from), to: points(this.text, end), severity: 'error'}};
    return {selector: this.mode === 'claims' ? {claimSelector: selector} : {labelSelector: selector}};
  }

  async #evaluate(signal) {
    const {problem, ...chosen} = await this.#chosen(signal);
    if (problem) return {valid: false, diagnostics: [problem], values: [], failures: [], rows: []};
    const spec = {...chosen, ...(this.namespace && !chosen.placement ? {namespace: this.namespace} : {}), rows: {show: this.show, limit: PAGE}, mostValues: 12};
    if (this.mode === 'cel' && !this.text.trim()) delete spec.expression;
    this.#asked = spec;
    const [found, report] = await Promise.all([
      ask('FleetEvaluation', spec, signal),
      chosen.placement ? ask('PlacementExplanation', {placement: chosen.placement, limit: 0}, signal).catch(() => undefined) : undefined,
    ]);
    const key = JSON.stringify(spec);
    if (key !== this.asked) {
      this.asked = key;
      this.fetcher = async (offset, limit, ended) => (await ask('FleetEvaluation', {...spec, rows: {show: spec.rows.show, offset, limit}, mostValues: 0}, ended)).rows;
    }
    return {...found, report};
  }

  /** From the key to the frame that shows its counts, for who measures. */
  updated(changed) {
    super.updated(changed);
    const {value: found, pending} = this.#answer;
    if (pending || !this.typed || found === this.painted) return;
    const start = this.typed;
    this.painted = found;
    this.typed = 0;
    requestAnimationFrame(() => setTimeout(() => performance.measure('muster.counts', {start})));
  }

  /** The saved placement with what is written here in the place of its predicates: gained and lost. */
  async #compareWith(signal) {
    const {problem, placement, expression, selector} = await this.#chosen(signal);
    if (problem) return undefined;
    const [namespace, name] = this.compare.split('/');
    const saved = await get('placements', {namespace, name}, signal);
    const required = expression === undefined ? selector : {celSelector: {celExpressions: [expression]}};
    const spec = placement ? placement.spec : {...saved.spec, predicates: [{requiredClusterSelector: required}]};
    return ask('PlacementExplanation', {placement: {apiVersion: saved.apiVersion, kind: saved.kind, metadata: {namespace, name}, spec}, limit: 20}, signal);
  }

  #completer = async (text, position, signal) => ask('Completion', {expression: text, position, mostItems: 40}, signal);

  render() {
    return html`<h1 class="sr">Playground</h1><div class="columns">
      <section class="stack" aria-label="What is asked">
        <div class="spread"><div class="tabs" role="tablist" aria-label="Language">${Object.entries(MODES).map(([mode, name]) => html`
          <button role="tab" aria-selected=${mode === this.mode} @click=${() => this.#choose(mode)}>${name}</button>`)}</div></div>
        <m-editor .value=${this.text} language=${this.mode === 'yaml' ? 'yaml' : 'cel'} label=${MODES[this.mode]}
          .diagnostics=${this.#answer.value?.diagnostics ?? []} .completer=${this.mode === 'cel' ? this.#completer : undefined} @edited=${this.#edited}></m-editor>
        ${this.#problems()}
        <div class="tries">
          <label>try it on <select @change=${(event) => { this.namespace = event.target.value; this.#note(); this.#ask(); }}>
            <option value="">all clusters</option>${this.#namespaces.map((each) => html`<option value=${each} ?selected=${each === this.namespace}>sets bound to ${each}</option>`)}</select></label>
          <label>compare with <select @change=${(event) => { this.compare = event.target.value; this.#note(); this.#ask(); }}>
            <option value="">nothing</option>${(this.#choices.value ?? []).map(({metadata}) => {
              const name = `${metadata.namespace}/${metadata.name}`;
              return html`<option value=${name} ?selected=${name === this.compare}>${name}</option>`;
            })}</select></label>
        </div>
        ${this.compare ? this.#gained() : nothing}
        ${this.#examples()}
      </section>
      <section class="stack" aria-label="The answer">${this.shown(this.#answer, (found) => this.#found(found))}</section>
    </div>${this.#dialog()}`;
  }

  #examples() {
    const given = EXAMPLES[this.mode] ?? [];
    return given.length ? html`<section class="examples"><h2 class="minor">For example</h2>${given.map((each) => html`<button class="plain" @click=${() => this.#edited({detail: each})}>${each}</button>`)}</section>` : nothing;
  }

  get #namespaces() { return [...new Set((this.#choices.value ?? []).map((each) => each.metadata.namespace))].sort(); }

  #problems() {
    const found = this.#answer.value;
    if (!found || (!found.diagnostics.length && !found.failures?.length)) return nothing;
    return html`<ul class="problems small" aria-label="Problems">${found.diagnostics.map((each) => html`<li><span class=${each.severity === 'warning' ? 'wait' : 'error'}>${sign(each.severity === 'warning' ? 'wait' : 'error')}</span>
      <span>${each.message}${each.line ? html` <span class="faint">line ${each.line}${each.column ? `, column ${each.column}` : ''}</span>` : nothing}</span></li>`)}
      ${(found.failures ?? []).map((each) => html`<li><span class="error">${sign('error')}</span><span>${each.message} <span class="faint">on ${counted(each.count, 'cluster')}, such as ${each.example}</span></span>${this.#fix(each)}</li>`)}</ul>`;
  }

  /** A key that no cluster has, and one that is nearly written so: the fix is a button. */
  #fix({message}) {
    const missing = /^no such key: (\S+)$/.exec(message)?.[1];
    if (this.mode !== 'cel' || !missing || !this.text.includes(missing)) return nothing;
    const near = (this.#keys.value ?? []).map((key) => [distance(missing, key), key]).filter(([far]) => far > 0 && far < 3).sort((one, other) => one[0] - other[0])[0]?.[1];
    return near && /^[A-Za-z_]\w*$/.test(near) ? html`<button class="plain" @click=${() => this.#edited({detail: this.text.replaceAll(missing, near)})}>use ${near}</button>` : nothing;
  }

  #found(found) {
    if (!found.valid) return html`<p class="faint">${found.diagnostics.length ? 'Not valid yet; the editor shows where.' : 'Nothing is asked.'}</p>`;
    const stale = this.#answer.pending && this.#answer.slow;
    return html`<div class="stack ${stale ? 'stale' : ''}">
      <div class="stack"><div class="counts" role="status" aria-live="polite">
        ${this.#count('Matched', found.matched, 'fit', 'yes')}${this.#count('Unmatched', found.unmatched, 'do not', 'no')}${this.#count('Failed', found.failed, 'fail', 'error')}<span></span></div>
        <div class="stacked" aria-hidden="true"><span class="bar yes" .style=${`width:${share(found.matched, found.objects)}%`}></span><span class="bar" .style=${`width:${share(found.unmatched, found.objects)}%`}></span>
          <span class="bar error" .style=${`width:${share(found.failed, found.objects)}%`}></span></div>
        <p class="faint small">${found.cost ? html`cost ${number(found.cost.highest)} of ${number(found.cost.limit)} · estimate ${number(found.cost.estimateMost)}` : nothing}
          ${found.type && found.type !== 'bool' ? html` · type <code>${found.type}</code>` : nothing}${found.hidden ? html` · ${number(found.hidden)} you may not see` : nothing}</p></div>
      ${found.report ? this.#funnel(found.report) : nothing}
      ${found.values.length ? this.#values(found) : nothing}
      <m-rows .columns=${this.columns ??= this.#columns} .count=${found.rowsInAll} .fetcher=${this.fetcher} .first=${found.rows} label="Clusters and their verdict" @open=${({detail}) => go(to.cluster(detail.name))}></m-rows>
      <div class="row"><button class="primary" @click=${this.#save}>Save as placement …</button></div></div>`;
  }

  #count(show, count, word, kind) {
    return html`<button aria-pressed=${this.show === show} title="Show only these" @click=${() => { this.show = this.show === show ? 'All' : show; this.#note(); this.#answer.run(); }}>
      <b class=${kind === 'no' ? '' : count ? kind : 'faint'}>${number(count)}</b>${count ? sign(kind) : nothing} <span class="faint">${word}</span></button>`;
  }

  #funnel({funnel, fleet}) {
    return html`<section><h2 class="minor">From the fleet to the decision</h2><div class="values">${funnel.map((each) => html`<span>${each.name}</span><span class="bar yes" .style=${`width:${share(each.after, fleet)}%`}></span>
      <span class="num">${number(each.before)} → ${number(each.after)}</span>`)}</div></section>`;
  }

  #values(found) {
    const most = Math.max(...found.values.map((each) => each.count));
    return html`<section><h2 class="minor">Values, ${counted(found.valuesInAll, 'different one')}</h2><div class="values" tabindex="0" role="group" aria-label="Values">${found.values.map((each) => html`
      <code>${value(each.value)}</code><span class="bar" .style=${`width:${share(each.count, most)}%`}></span><span class="num">${number(each.count)}</span>`)}</div></section>`;
  }

  get #columns() {
    return [
      {title: 'name', width: 'minmax(180px, 1fr)', least: 180, cell: (row) => html`<a class="mono" tabindex="-1" href=${to.cluster(row.name)}>${row.name}</a>`},
      {title: 'fits', width: '64px', least: 64, cell: (row) => html`<span class=${VERDICTS[row.verdict]}>${sign(VERDICTS[row.verdict])}</span>`},
      {title: 'why', width: 'minmax(140px, 1.4fr)', least: 140, cell: (row) => html`<span class="faint small" title=${row.why ?? ''}>${shortWhy(row.why)}</span>`},
    ];
  }

  #gained() {
    return html`<section class="card stack"><h2>Against ${this.compare}</h2>${this.shown(this.#compared, ({diff, selected}) => html`
      <p>It would select ${counted(selected, 'cluster')}; ${counted(diff.present - diff.lost.count, 'stays', 'stay')}.</p>
      ${this.#names('yes', '+', 'gained', diff.gained)}${this.#names('error', '−', 'lost', diff.lost)}`)}</section>`;
  }

  #names(kind, mark, word, {count, clusters}) {
    return html`<div><span class=${count ? kind : 'faint'}>${mark} ${number(count)} ${word}</span> <span class="mono">${clusters.map((each, at) => html`${at ? ', ' : ''}<a href=${to.cluster(each)}>${each}</a>`)}</span></div>`;
  }

  async #save() {
    const {placement} = this.mode === 'yaml' ? await this.#chosen() : {};
    this.refused = undefined;
    this.saving = placement ?? {metadata: {name: '', namespace: this.namespace || this.#namespaces[0] || 'default'}};
    await this.updateComplete;
    this.shadowRoot.querySelector('dialog').showModal();
  }

  async #submit(event) {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.target));
    const {placement, expression, selector} = await this.#chosen();
    const required = expression === undefined ? selector : {celSelector: {celExpressions: [expression]}};
    const spec = placement?.spec ?? {predicates: [{requiredClusterSelector: required}], ...(given.number ? {numberOfClusters: Number(given.number)} : {})};
    const body = {apiVersion: 'cluster.open-cluster-management.io/v1beta1', kind: 'Placement', metadata: {...placement?.metadata, name: given.name, namespace: given.namespace}, spec};
    try {
      await request('POST', `${path('placements', {namespace: given.namespace})}?fieldManager=muster-console`, {body});
      this.shadowRoot.querySelector('dialog').close();
      go(to.placement(given.namespace, given.name));
    } catch (error) {
      this.refused = error;
    }
  }

  #dialog() {
    return html`<dialog aria-label="Save as placement">${this.saving ? html`<form @submit=${this.#submit}><h2>Save as placement</h2>
      <label>Namespace<input name="namespace" required .value=${this.saving.metadata.namespace ?? ''}></label>
      <label>Name<input name="name" required pattern="[a-z0-9]([a-z0-9.\\-]*[a-z0-9])?" .value=${this.saving.metadata.name ?? ''}></label>
      ${this.mode === 'yaml' ? nothing : html`<label>How many clusters <input name="number" type="number" min="1" placeholder="all that fit"></label>`}
      ${this.refused ? html`<m-state .failure=${this.refused}></m-state>` : nothing}
      <div class="row"><button class="primary">Create the placement</button><button type="button" @click=${() => this.shadowRoot.querySelector('dialog').close()}>Cancel</button></div></form>` : nothing}</dialog>`;
  }
}

/** The reason without the expression, which stands in the editor: what was found comes first. */
const shortWhy = (why = '') => /^'[^]*' is false \(([^]*)\)$/.exec(why)?.[1].replaceAll('metadata.', '') ?? why;

/** How many letters two words differ by. */
function distance(one, other) {
  let row = Array.from({length: other.length + 1}, (_, at) => at);
  for (let line = 1; line <= one.length; line += 1) {
    const next = [line];
    for (let at = 1; at <= other.length; at += 1) {
      next[at] = Math.min(row[at] + 1, next[at - 1] + 1, row[at - 1] + (one[line - 1] === other[at - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[other.length];
}
customElements.define('m-playground', Playground);
