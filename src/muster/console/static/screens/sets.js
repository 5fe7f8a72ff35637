// Cluster sets: exclusive keys as columns, sets as blocks whose height is their size. A cluster is traced across them,
// and dragged onto one: that is a plan, not a deed.
import {css, html, nothing} from '../../third_party/lit.js';
import {ask, list} from '../lib/api.js';
import {read} from '../lib/commands.js';
import {counted, number} from '../lib/format.js';
import {Live} from '../lib/live.js';
import {go, href, note, to} from '../lib/router.js';
import {Screen} from '../lib/screen.js';
import {label, SET_LABEL, text} from '../lib/search.js';
import {Task} from '../lib/task.js';
import {shortKey, sign, signStyles} from '../parts/small.js';

const SHELF = 12; // clusters that can be taken
const DRAGGED = 'application/x-muster-cluster';

/** The labels that put a cluster into a set; none for a set whose selector says more than labels. */
function joining({metadata, spec}) {
  const {clusterSelector: {selectorType, labelSelector = {}} = {}, exclusiveKey = SET_LABEL} = spec;
  if (selectorType !== 'LabelSelector') return {[exclusiveKey]: metadata.name};
  return labelSelector.matchExpressions?.length ? {} : labelSelector.matchLabels ?? {};
}

export class Sets extends Screen {
  static properties = {...Screen.properties, wanted: {state: true}, traced: {state: true}, over: {state: true}};
  static styles = [...Screen.styles, signStyles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s5); align-content: start; }
    .shelf { display: flex; gap: var(--s2); flex-wrap: wrap; align-items: center; }
    .shelf input { min-width: 220px; }
    .cluster { font: 12px/18px var(--mono); padding: 3px 8px; cursor: grab; border-radius: 4px; }
    .cluster[aria-pressed=true] { border-color: var(--accent); background: var(--accent-wash); }
    .keys { display: grid; grid-auto-flow: column; grid-auto-columns: minmax(180px, 1fr); gap: var(--s5); overflow-x: auto; padding: 3px 3px var(--s2); margin-inline: -3px; position: relative; }
    .key { display: grid; gap: var(--s1); align-content: start; }
    .key header { padding-bottom: var(--s2); }
    .set { display: grid; align-content: start; gap: 2px; color: var(--ink); background: var(--raised); border: 1px solid var(--line); border-radius: var(--corner); padding: var(--s2) var(--s3); min-height: 52px; border-inline-start: 3px solid var(--accent); transition: opacity var(--fade); }
    .set:hover { background: var(--hover); text-decoration: none; }
    .set.over { outline: 2px dashed var(--accent); outline-offset: 1px; background: var(--accent-wash); }
    .set.in { background: var(--accent-wash); border-color: var(--accent); } .tracing .set:not(.in) { border-inline-start-color: var(--line); }
    .none { border: 1px dashed var(--line); border-inline-start: 3px dashed var(--bar-no); background: none; color: var(--faint); }
  `];

  #sets = new Task(this, (signal) => this.#load(signal));
  #shelf = new Task(this, (signal) => this.#find(signal));
  #trace = new Task(this, (signal) => ask('ClusterExplanation', {name: this.traced, limit: 0}, signal));
  #live = new Live(this, ['managedclustersets', 'managedclusters'], () => this.#refresh());

  get heading() { return 'Sets'; }
  get commands() { return read('managedclustersets'); }

  arrived() {
    this.wanted = this.query.get('q') ?? '';
    this.traced = this.query.get('cluster') ?? '';
    this.#sets.run().then(() => this.#shelf.run());
    if (this.traced) this.#trace.run();
  }

  #refresh() {
    this.#sets.refresh();
    this.#shelf.refresh();
    if (this.traced) this.#trace.refresh();
  }

  async #load(signal) {
    const [{items}, facets] = await Promise.all([list('managedclustersets', {signal}), ask('FleetFacets', {facets: ['set'], mostValues: 1000}, signal)]);
    const sizes = new Map((facets.facets[0]?.values ?? []).map((each) => [each.value, each.count]));
    const columns = new Map();
    for (const set of items) {
      const {clusterSelector: {selectorType} = {}, exclusiveKey = SET_LABEL} = set.spec;
      const key = selectorType === 'LabelSelector' ? '' : exclusiveKey;
      if (!columns.has(key)) columns.set(key, []);
      columns.get(key).push({set, size: sizes.get(set.metadata.name) ?? 0});
    }
    const exclusive = [...columns.keys()].filter(Boolean);
    const without = await Promise.all(exclusive.map(async (key) => {
      const found = await ask('FleetEvaluation', {expression: this.#outside(key, columns), rows: {limit: 0}, mostValues: 0}, signal);
      return [key, found.matched];
    }));
    return {columns: [...columns].sort(([one], [other]) => (one ? 0 : 1) - (other ? 0 : 1)), clusters: facets.clusters, without: new Map(without)};
  }

  #outside(key, columns) { return `!(${label(key)} in [${columns.get(key).map(({set}) => text(set.metadata.name)).join(', ')}])`; }

  /** Clusters to take: those that are called so, else some that are in no set of the first key. */
  async #find(signal) {
    const columns = new Map(this.#sets.value?.columns ?? []);
    const key = [...columns.keys()].find((each) => each && this.#sets.value.without.get(each)) ?? '';
    const expression = this.wanted ? `managedCluster.metadata.name.contains(${text(this.wanted)})` : key ? this.#outside(key, columns) : 'true';
    const {rows, rowsInAll} = await ask('FleetEvaluation', {expression, rows: {limit: SHELF}, mostValues: 0}, signal);
    return {names: rows.map((each) => each.name), more: rowsInAll - rows.length, key: this.wanted ? '' : key};
  }

  #note() { note(href('/sets', {q: this.wanted, cluster: this.traced})); }

  #typed(event) {
    this.wanted = event.target.value.trim();
    this.#note();
    this.#shelf.run();
  }

  #look(name) {
    this.traced = name;
    this.#note();
    if (name) this.#trace.run();
    else this.#trace.reset();
  }

  #move(name, set) { if (set) go(to.plan({labels: [{name, labels: joining(set)}]})); }

  #drag(event, name) {
    event.dataTransfer.setData(DRAGGED, name);
    event.dataTransfer.setData('text/plain', name);
    event.dataTransfer.effectAllowed = 'move';
  }

  #dragOver(event, set) {
    if (!event.dataTransfer.types.includes(DRAGGED) || !Object.keys(joining(set)).length) return;
    event.preventDefault();
    this.over = set.metadata.name;
  }

  #dropped(event, set) {
    event.preventDefault();
    this.over = '';
    this.#move(event.dataTransfer.getData(DRAGGED), set);
  }

  render() {
    return html`<div><h1>Sets</h1><p class="faint">A cluster is in at most one set of each key. Sets by selector may overlap.</p></div>
      ${this.shown(this.#sets, (found) => html`${this.#taken(found)}<div class="keys ${this.traced ? 'tracing' : ''}" tabindex="0" role="region" aria-label="Sets by key">
        ${found.columns.map(([key, sets]) => html`<section class="key"><header><h2>${key ? shortKey(key) : 'by selector'}</h2>
            <p class="faint small">${key ? 'exclusive label' : 'may overlap'} · ${counted(sets.length, 'set')}</p></header>
          ${sets.sort((one, other) => other.size - one.size).map(({set, size}) => this.#block(set, size, found.clusters))}
          ${found.without.get(key) ? html`<div class="set none" .style=${this.#height(found.without.get(key), found.clusters)}><span>in none</span><span class="small">${counted(found.without.get(key), 'cluster')}</span></div>` : nothing}
        </section>`)}</div>`)}`;
  }

  #taken({columns}) {
    const {names = [], more = 0, key = ''} = this.#shelf.value ?? {};
    const sets = columns.flatMap(([, each]) => each.map(({set}) => set)).filter((set) => Object.keys(joining(set)).length);
    return html`<section class="stack" aria-label="Clusters to move"><div class="shelf">
        <input type="search" aria-label="Find a cluster" placeholder="find a cluster" .value=${this.wanted ?? ''} @input=${this.#typed}>
        ${names.map((name) => html`<button class="cluster" draggable="true" aria-pressed=${name === this.traced} title="Where is it? Drag it onto a set to plan the move" @click=${() => this.#look(name === this.traced ? '' : name)}
          @dragstart=${(event) => this.#drag(event, name)}>${name}</button>`)}
        <span class="faint small">${more > 0 ? `${number(more)} more` : ''}${key ? ` in no set of ${shortKey(key)}` : ''}</span></div>
      ${this.traced ? html`<p class="row"><a class="mono" href=${to.cluster(this.traced)}>${this.traced}</a> <span class="faint">is in ${this.#member.length ? this.#member.join(', ') : 'no set'}.</span>
        <label class="row"><span>Plan to move it to</span> <select @change=${(event) => this.#move(this.traced, sets.find((each) => each.metadata.name === event.target.value))}>
          <option value="">choose a set</option>${sets.map(({metadata}) => html`<option>${metadata.name}</option>`)}</select></label></p>` : html`<p class="faint small">Drag a cluster onto a set, or choose one to see where it is: moving it is planned first.</p>`}</section>`;
  }

  get #member() { return this.traced ? (this.#trace.value?.sets ?? []).filter((each) => each.member).map((each) => each.name) : []; }

  #height(size, clusters) { return `height:${Math.round(52 + 240 * (clusters ? size / clusters : 0))}px`; }

  #block(set, size, clusters) {
    const {metadata, spec} = set;
    const selector = Object.entries(spec.clusterSelector?.labelSelector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`).join(', ');
    const inside = this.#member.includes(metadata.name);
    return html`<a class="set ${inside ? 'in' : ''} ${this.over === metadata.name ? 'over' : ''}" href=${to.set(metadata.name)} .style=${this.#height(size, clusters)}
        @dragover=${(event) => this.#dragOver(event, set)} @dragleave=${() => { this.over = ''; }} @drop=${(event) => this.#dropped(event, set)}>
      <strong>${metadata.name}</strong><span class="faint small">${counted(size, 'cluster')}${clusters ? ` · ${number(Math.round(size / clusters * 100))} %` : ''}</span>
      ${inside ? html`<span class="small">${sign('yes')} <span class="mono">${this.traced}</span></span>` : nothing}
      ${selector ? html`<code class="small">${selector}</code>` : nothing}</a>`;
  }
}
customElements.define('m-sets', Sets);
