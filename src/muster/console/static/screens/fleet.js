// The fleet: search first, facets with counts, problems first; rows come as they scroll.
import {css, html, nothing} from '../../third_party/lit.js';
import {ask, list} from '../lib/api.js';
import {asked, words} from '../lib/commands.js';
import {counted, number, share, value} from '../lib/format.js';
import {Live} from '../lib/live.js';
import {go, href, note, to} from '../lib/router.js';
import {Screen} from '../lib/screen.js';
import {compile, has, label, PROBLEM, SET_LABEL, toggled, VERSION} from '../lib/search.js';
import {Task} from '../lib/task.js';
import {health, isTelling, shortKey, sign, signStyles, tellingLabels} from '../parts/small.js';
import {PAGE} from '../parts/rows.js';

const FIELDS = [
  {name: 'version', expression: VERSION},
  {name: 'labels', expression: 'managedCluster.metadata.?labels.orValue({})'},
  {name: 'conditions', expression: 'managedCluster.status.?conditions.orValue([])'},
  {name: 'taints', expression: 'managedCluster.spec.?taints.orValue([])'},
];
const FACETS = {set: 'set', label: '', version: 'version', taint: 'taint'};
const PROBLEMS_FIRST = `${PROBLEM} ? 0 : 1`;
const ORDERS = {name: 'name', version: VERSION, set: label(SET_LABEL), state: PROBLEMS_FIRST};
const SHOWN_VALUES = 5;
const SHOWN_KEYS = 8;

export class Fleet extends Screen {
  static properties = {...Screen.properties, search: {state: true}, sort: {state: true}, descending: {state: true},
    all: {state: true}, fetcher: {state: true}};
  static styles = [...Screen.styles, signStyles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); grid-template-rows: auto 1fr; gap: var(--s4); height: calc(100vh - 48px - 2 * var(--s5)); min-height: 420px; }
    .search { display: flex; gap: var(--s4); align-items: center; flex-wrap: wrap; }
    .search input { flex: 1; min-width: 220px; font: var(--code); padding: 7px var(--s3); min-height: 36px; }
    .counts { white-space: nowrap; }
    .counts b { font-weight: 600; }
    .columns { display: grid; grid-template-columns: 232px minmax(0, 1fr); gap: var(--s5); min-height: 0; }
    aside { overflow: auto; display: grid; gap: var(--s4); align-content: start; padding-inline-end: var(--s2); min-height: 0; }
    aside h2 { font: 600 12px/16px var(--sans); color: var(--faint); margin-bottom: var(--s1); overflow-wrap: anywhere; }
    .facet { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 var(--s2); width: 100%; border: 0; background: none; padding: 2px 4px;
      text-align: start; border-radius: 4px; position: relative; align-items: baseline; }
    .facet .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .facet .bar { grid-column: 1 / -1; height: 3px; background: var(--bar-no); transition: width var(--fade); }
    .facet[aria-pressed=true] { background: var(--accent-wash); } .facet[aria-pressed=true] .bar { background: var(--accent); }
    m-rows { height: 100%; }
    .empty { max-width: 640px; }
    .empty li { display: grid; gap: var(--s1); margin-top: var(--s4); } .empty m-copy { justify-self: start; }
    pre { background: var(--raised); border: 1px solid var(--line); border-radius: var(--corner); padding: var(--s2) var(--s3); }
    @media (max-width: 800px) { :host { height: auto; } .columns { grid-template-columns: 1fr; } aside { max-height: 180px; } m-rows { height: 70vh; } }
  `];

  #sets = [];
  #answer = new Task(this, (signal) => this.#count(signal));
  #facets = new Task(this, (signal) => this.#facet(signal));
  #live = new Live(this, ['managedclusters'], () => this.#refresh(), ['placementdecisions']);

  constructor() {
    super();
    this.search = '';
    this.sort = '';
    this.descending = false;
  }

  get heading() { return this.search ? `${this.search} · Fleet` : 'Fleet'; }

  get commands() {
    const {expression = ''} = this.#compiled;
    return asked('FleetEvaluation', {...(expression ? {expression} : {}), rows: {limit: 100}},
      words('muster', 'get', 'managedclusters'));
  }

  /** Where this view is: the search, and the order if it is not the usual one. */
  get #address() {
    const by = Object.keys(ORDERS).find((each) => ORDERS[each] === this.sort);
    return href('/fleet', {q: this.search, sort: by ? `${this.descending ? '-' : ''}${by}` : ''});
  }

  get #compiled() { return compile(this.search, this.#sets); }

  async arrived() {
    this.search = this.query.get('q') ?? '';
    const [, down, by] = /^(-?)(\w*)$/.exec(this.query.get('sort') ?? '') ?? [];
    [this.sort, this.descending] = [Object.hasOwn(ORDERS, by) ? ORDERS[by] : '', Boolean(down)];
    if (/(^|\s)-?set:/.test(this.search)) await this.#loadSets();
    this.#ask();
  }

  async #loadSets() {
    if (!this.#sets.length) this.#sets = (await list('managedclustersets').catch(() => ({items: []}))).items;
  }

  #ask() {
    if (this.#compiled.problem) return;
    this.#answer.run();
    this.#facets.run();
  }

  #refresh() {
    this.#answer.refresh();
    this.#facets.refresh();
  }

  #spec(rows) {
    const {expression} = this.#compiled;
    return {...(expression ? {expression} : {}), rows: {fields: FIELDS, sortBy: this.sort || PROBLEMS_FIRST, descending: this.descending, placements: true, ...rows}};
  }

  async #count(signal) {
    const spec = this.#spec({limit: PAGE});
    const found = await ask('FleetEvaluation', {...spec, distinct: PROBLEM, mostValues: 2}, signal);
    const key = JSON.stringify(spec);
    if (key !== this.asked) {
      this.asked = key;
      this.fetcher = async (offset, limit, ended) => {
        const page = await ask('FleetEvaluation', {...this.#spec({offset, limit}), mostValues: 0}, ended);
        return page.rows;
      };
    }
    const attention = found.values.find((each) => each.value === true)?.count ?? 0;
    return {...found, attention};
  }

  #facet(signal) {
    const {expression} = this.#compiled;
    return ask('FleetFacets', {...(expression ? {expression} : {}), facets: Object.keys(FACETS), mostKeys: 40, mostValues: this.all ? 50 : 12}, signal);
  }

  #typed(event) {
    this.search = event.target.value;
    note(this.#address);
    if (/(^|\s)-?set:/.test(this.search) && !this.#sets.length) this.#loadSets().then(() => this.#ask());
    else this.#ask();
  }

  async #toggle(key, text) {
    if (key === 'set') await this.#loadSets();
    this.search = toggled(this.search, key, text);
    go(this.#address);
  }

  #sorted({detail}) {
    if (this.sort === detail) this.descending = !this.descending;
    else [this.sort, this.descending] = [detail, false];
    note(this.#address);
    this.#answer.run();
  }

  get #columns() {
    return [
      {title: 'name', width: 'minmax(190px, 1.5fr)', least: 190, sort: ORDERS.name, cell: (row) => html`<a class="mono name" href=${to.cluster(row.name)} tabindex="-1">${row.name}</a>`},
      {title: 'version', width: '92px', least: 92, sort: ORDERS.version, cell: ({fields}) => html`<span class="mono">${fields.version ?? ''}</span>`},
      {title: 'set', width: 'minmax(110px, .7fr)', least: 110, sort: ORDERS.set, cell: ({fields}) => fields.labels?.[SET_LABEL] ?? ''},
      {title: 'labels', width: 'minmax(180px, 2fr)', least: 180, cell: ({fields}) => html`<span class="faint small" title=${tellingLabels(fields.labels).map(([key, text]) => `${key}=${text}`).join('\n')}>${tellingLabels(fields.labels).filter(([key]) => key !== 'version').map(([key, text]) => `${key}=${text}`).join('  ')}</span>`},
      {title: 'in', width: '48px', least: 48, isNumber: true, cell: ({placements = 0}) => html`<span class=${placements ? '' : 'faint'} title=${`in ${counted(placements, 'placement')}`}>${number(placements)}</span>`},
      {title: 'state', width: 'minmax(204px, .7fr)', least: 204, sort: ORDERS.state, cell: ({fields}) => {
        const found = health(fields.conditions);
        const kind = found.sign === 'yes' ? 'faint' : found.sign;
        const taints = (fields.taints ?? []).map(({key}) => key.split('/').pop()).filter((each) => each !== found.word);
        return html`<span class=${found.sign}>${sign(found.sign)}</span> <span class=${kind}>${found.word}</span>
          ${found.sign !== 'yes' && found.since ? html`<span class="faint small"><m-time .of=${found.since}></m-time></span>` : nothing}
          ${taints.length ? html`<span class="faint small">· tainted ${taints.join(', ')}</span>` : nothing}`;
      }},
    ];
  }

  render() {
    const {problem} = this.#compiled;
    return html`
      <h1 class="sr">Fleet</h1>
      <div class="search">
        <input type="search" aria-label="Search the fleet" .value=${this.search} @input=${this.#typed} spellcheck="false" autocomplete="off"
          placeholder="region:eu version:>=1.30 gpu:*  or a part of a name" aria-describedby="syntax" aria-invalid=${problem ? 'true' : 'false'}>
        <p class="counts ${this.#answer.pending && this.#answer.slow ? 'stale' : ''}" role="status" aria-live="polite">${this.#counts(problem)}</p>
        <span id="syntax" class="sr">Words: key:value, key=value, key:*, version:>=1.30, set:name, is:problem; a minus in front for not.</span>
      </div>
      ${this.shown(this.#answer, (found) => (found.objects + found.hidden === 0 && !this.search ? this.#empty() : html`
        <div class="columns">
          <aside aria-label="Facets">${this.#facets.value ? this.#groups(this.#facets.value) : nothing}
            ${this.#facets.failure ? html`<m-state .failure=${this.#facets.failure}></m-state>` : nothing}</aside>
          <m-rows .columns=${this.columns ??= this.#columns} .count=${found.rowsInAll} .fetcher=${this.fetcher} .first=${found.rows} .sort=${this.sort || PROBLEMS_FIRST}
            ?descending=${this.descending} label="Clusters" @sort=${this.#sorted} @open=${({detail}) => go(to.cluster(detail.name))}></m-rows>
        </div>`))}`;
  }

  #counts(problem) {
    if (problem) return html`<span class="error">${problem}</span>`;
    const found = this.#answer.value;
    if (!found) return nothing;
    if (!found.valid) return html`<span class="error">${found.diagnostics[0]?.message}</span>`;
    const hidden = found.hidden ? html` · <span class="faint">${number(found.hidden)} you may not see</span>` : nothing;
    return html`<b>${counted(found.matched, 'cluster')}</b>${found.attention
      ? html` · <a href=${to.fleet(toggled(this.search, 'is', 'problem'))} class="error">${number(found.attention)} need${found.attention === 1 ? 's' : ''} attention</a>`
      : nothing}${hidden}`;
  }

  #groups(found) {
    const order = Object.keys(FACETS);
    const groups = found.facets
      .filter((each) => each.key !== SET_LABEL && (each.facet !== 'label' || each.key !== 'version'))
      .filter((each) => this.all || each.facet !== 'label' || isTelling(each.key) || has(this.search, each.key, value(each.values[0]?.value)))
      .filter((each) => each.distinct > 1 || each.clusters < found.clusters || has(this.search, this.#key(each), value(each.values[0]?.value)))
      .sort((one, other) => order.indexOf(one.facet) - order.indexOf(other.facet))
      .slice(0, this.all ? 100 : SHOWN_KEYS + 3);
    return html`${groups.map((group) => html`<section>
      <h2>${group.facet === 'taint' ? `taint ${group.key}` : shortKey(group.key) || group.facet}</h2>
      ${group.values.filter((each) => this.all || each.count < found.clusters || has(this.search, this.#key(group), value(each.value))).slice(0, this.all ? 50 : SHOWN_VALUES).map((each) => this.#value(group, each, found.clusters))}
      ${group.distinct > SHOWN_VALUES && !this.all ? html`<p class="faint small">${number(group.distinct - SHOWN_VALUES)} more values</p>` : nothing}
    </section>`)}
    <button class="plain small" @click=${() => { this.all = !this.all; this.#facets.run(); }}>${this.all ? 'Show less' : 'Show everything'}</button>`;
  }

  #key(group) { return group.facet === 'label' ? group.key : group.facet; }

  #value(group, each, clusters) {
    const [key, text] = group.facet === 'taint' ? ['taint', group.key] : [this.#key(group), value(each.value)];
    const on = has(this.search, key, text);
    return html`<button class="facet" aria-pressed=${on} @click=${() => this.#toggle(key, text)} title=${value(each.value)}>
      <span class="name">${value(each.value) || '(empty)'}</span><span class="faint small">${number(each.count)}</span>
      <span class="bar" .style=${`width:${share(each.count, clusters)}%`}></span></button>`;
  }

  #empty() {
    const ways = [
      ['A demo fleet, to look around', 'muster demo fleet -o fleet && muster apply -f fleet'],
      ['A cluster of yours, from a file', 'kubectl apply -f managedcluster.yaml'],
      ['Clusters that Open Cluster Management registers', 'clusteradm join --hub-token TOKEN --hub-apiserver URL --cluster-name NAME'],
    ];
    return html`<div class="empty"><h2>There are no clusters yet</h2><p class="faint">Three ways to get some:</p>
      <ul>${ways.map(([what, command]) => html`<li><span>${what}</span><pre>${command}</pre><m-copy label="Copy" .text=${command}></m-copy></li>`)}</ul></div>`;
  }
}
customElements.define('m-fleet', Fleet);
