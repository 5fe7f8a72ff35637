// Hosts: a jq query over inventories, answered while it is typed; labels, conflicts, errors; values write their own path.
import {css, html, nothing} from '../../third_party/lit.js';
import {ask, get, list, toYaml} from '../lib/api.js';
import {asked, words} from '../lib/commands.js';
import {counted, number, share, value as written} from '../lib/format.js';
import {Live} from '../lib/live.js';
import {go, note, to} from '../lib/router.js';
import {Screen} from '../lib/screen.js';
import {Task} from '../lib/task.js';
import {PAGE} from '../parts/rows.js';
import {sign, signStyles} from '../parts/small.js';
import '../parts/editor.js';
import '../parts/tree.js';

const VERDICTS = {Matched: 'yes', Unmatched: 'no', Failed: 'error'};
const SHOW = {Matched: 'match', Unmatched: 'do not', Failed: 'fail'};
const EXAMPLES = ['.cpu.count >= 32', '[.disks[] | select(.driveType == "SSD")] | length > 1', '.memory.physicalBytes > 274877906944', '.systemVendor.manufacturer == "Supermicro"'];
const API = 'agent-install.openshift.io/v1beta1';

export class Hosts extends Screen {
  static properties = {...Screen.properties, text: {state: true}, key: {state: true}, label: {state: true}, name: {state: true}, namespace: {state: true},
    host: {state: true}, show: {state: true}, fetcher: {state: true}};
  static styles = [...Screen.styles, signStyles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s4); align-content: start; }
    .columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: var(--s5); align-items: start; }
    m-editor { min-height: 96px; }
    .fields { display: grid; grid-template-columns: 1fr 1fr 1fr auto; gap: var(--s3); align-items: end; }
    .fields label, .pick label { display: grid; gap: var(--s1); color: var(--faint); font: var(--small); } .fields input { min-width: 0; color: var(--ink); font: var(--code); }
    .pick { display: flex; gap: var(--s4); flex-wrap: wrap; } .pick select { color: var(--ink); font: var(--text); }
    .counts { display: flex; gap: var(--s1) var(--s5); align-items: baseline; flex-wrap: wrap; }
    .counts b { font: 600 22px/28px var(--sans); margin-inline-end: 5px; font-variant-numeric: tabular-nums; }
    .counts button { border: 0; background: none; padding: 2px 4px; text-align: start; margin-inline-start: -4px; } .counts button[aria-pressed=true] { background: var(--hover); }
    .stacked { display: flex; height: 8px; gap: 1px; border-radius: 2px; overflow: hidden; background: var(--line); } .stacked .bar { border-radius: 0; }
    .list li { padding: 5px 0; border-top: 1px solid var(--line); } .list li:first-child { border-top: 0; }
    .split { border-inline-start: 3px solid var(--wait); }
    .examples { display: grid; gap: var(--s1); justify-items: start; } .examples button { text-align: start; font: 12px/18px var(--mono); color: var(--faint); }
    .inventory { max-height: max(260px, calc(100vh - 470px)); overflow: auto; }
    .parts { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 2px var(--s4); max-height: 180px; overflow: auto; }
    .parts code { font: 12px/18px var(--mono); white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
    m-rows { height: max(280px, calc(100vh - 340px)); }
    @media (max-width: 980px) { .columns { grid-template-columns: minmax(0, 1fr); } .fields { grid-template-columns: 1fr 1fr; } }
  `];

  #answer = new Task(this, (signal) => this.#preview(signal));
  #saved = new Task(this, async (signal) => (await list('agentclassifications', {signal})).items);
  #agent = new Task(this, (signal) => this.#look(signal));
  #live = new Live(this, ['agents', 'agentclassifications'], () => { this.#answer.refresh(); this.#saved.refresh(); });
  #asked = {};

  constructor() {
    super();
    Object.assign(this, {text: '', key: '', label: '', name: '', namespace: '', host: '', show: 'All'});
  }

  get heading() { return 'Hosts'; }
  get commands() { return asked('ClassificationPreview', this.#asked, words('muster', 'classify')); }

  async arrived() {
    const given = (key) => this.query.get(key) ?? '';
    // What the address says is there at once: what somebody types while classifications come is typed over it, and stays.
    const [name, namespace] = [given('classification'), given('namespace')];
    Object.assign(this, {name, namespace, text: given('query'), key: given('key'), label: given('value'), host: given('host')});
    await this.#saved.run();
    const all = this.#saved.value ?? [];
    const saved = all.find(({metadata}) => metadata.name === name && (!namespace || metadata.namespace === namespace));
    this.namespace ||= saved?.metadata.namespace || all[0]?.metadata.namespace || await this.#anyNamespace();
    [this.text, this.key, this.label] = [this.text || saved?.spec.query || '', this.key || saved?.spec.labelKey || '', this.label || saved?.spec.labelValue || ''];
    this.#ask();
    if (this.host) this.#agent.run();
  }

  async #anyNamespace() {
    const {items} = await list('agents', {limit: 1}).catch(() => ({items: []}));
    return items[0]?.metadata.namespace ?? '';
  }

  get #namespaces() { return [...new Set([...(this.#saved.value ?? []).map((each) => each.metadata.namespace), this.namespace])].filter(Boolean).sort(); }

  #note() { note(to.hosts({namespace: this.namespace, query: this.text, key: this.key, value: this.label, classification: this.name, host: this.host})); }

  #set(values) {
    Object.assign(this, values);
    this.#note();
    this.#ask();
  }

  #ask() {
    this.#answer.run();
    if (this.host) this.#agent.run();
  }

  get #object() {
    return {apiVersion: API, kind: 'AgentClassification', metadata: {name: this.name || [this.key, this.label].filter(Boolean).join('-') || 'new', namespace: this.namespace},
      spec: {labelKey: this.key, labelValue: this.label, query: this.text}};
  }

  /** What is asked: a query alone until it has a label, and all classifications together while there is no query. */
  get #what() {
    if (!this.text.trim()) return {};
    return this.key && this.label ? {classification: this.#object} : {query: this.text};
  }

  async #preview(signal) {
    const spec = {...(this.namespace ? {namespace: this.namespace} : {}), ...this.#what, rows: {show: this.text.trim() ? this.show : 'All', limit: PAGE}};
    this.#asked = spec;
    const found = await ask('ClassificationPreview', spec, signal);
    const key = JSON.stringify(spec);
    if (key !== this.asked) {
      this.asked = key;
      this.fetcher = async (offset, limit, ended) => (await ask('ClassificationPreview', {...spec, rows: {...spec.rows, offset, limit}}, ended)).rows;
    }
    return found;
  }

  async #look(signal) {
    const {namespace, host} = this;
    const [agent, said] = await Promise.all([
      // Hosts of other kinds (hardwaredata/NAME) are known by what the query says of them.
      host.includes('/') ? {metadata: {name: host}} : get('agents', {namespace, name: host}, signal),
      this.text.trim() ? ask('ClassificationPreview', {namespace, ...this.#what, host, explain: true, rows: {limit: 1}}, signal).catch(() => undefined) : undefined,
    ]);
    return {agent, said: said?.rows[0]};
  }

  /** A value of an inventory was clicked: its path goes where the caret is; an empty query becomes one that holds. */
  #picked({detail: {path, value}}) {
    if (this.text.trim()) this.shadowRoot.querySelector('m-editor').insert(path);
    else this.#set({text: `${path} ${Array.isArray(value) ? '| length > 0' : `== ${JSON.stringify(value)}`}`});
  }

  #choose(saved) {
    const found = (this.#saved.value ?? []).find(({metadata}) => metadata.name === saved && metadata.namespace === this.namespace);
    this.#set({name: saved, text: found?.spec.query ?? '', key: found?.spec.labelKey ?? '', label: found?.spec.labelValue ?? '', show: 'All'});
  }

  async #plan() { go(to.plan({yaml: await toYaml(this.#object), how: 'replace'})); }

  render() {
    const found = this.#answer.value;
    const own = (this.#saved.value ?? []).filter(({metadata}) => metadata.namespace === this.namespace);
    return html`<h1 class="sr">Hosts</h1><div class="columns">
      <section class="stack" aria-label="What is asked">
        <div class="pick"><label>Namespace <select @change=${(event) => this.#set({namespace: event.target.value, host: '', name: ''})}>${this.#namespaces.map((each) => html`<option ?selected=${each === this.namespace}>${each}</option>`)}</select></label>
          <label>Classification <select @change=${(event) => this.#choose(event.target.value)}><option value="">a new one</option>${own.map(({metadata}) => html`<option ?selected=${metadata.name === this.name}>${metadata.name}</option>`)}</select></label></div>
        <m-editor .value=${this.text} language="jq" label="jq query" placeholder="A jq query over the inventory of a host: true or false" .diagnostics=${this.text.trim() ? found?.diagnostics ?? [] : []}
          @edited=${({detail}) => { if (detail !== this.text) this.#set({text: detail}); }}></m-editor>
        ${found?.diagnostics.length && this.text.trim() ? html`<ul class="small">${found.diagnostics.map((each) => html`<li class="error">${sign('error')} ${each.message} <span class="faint">line ${each.line}, column ${each.column}</span></li>`)}</ul>` : nothing}
        <div class="fields"><label>Label<input .value=${this.key} placeholder="size" @input=${(event) => this.#set({key: event.target.value.trim()})}></label>
          <label>Value<input .value=${this.label} placeholder="large" @input=${(event) => this.#set({label: event.target.value.trim()})}></label>
          <label>Name<input .value=${this.name} placeholder=${this.#object.metadata.name} @input=${(event) => this.#set({name: event.target.value.trim()})}></label>
          <button class="primary" ?disabled=${!this.key || !this.label || !this.text.trim() || !found?.valid} @click=${this.#plan}>Plan this …</button></div>
        ${this.host ? this.#inventory() : html`<section class="examples"><h2 class="minor">For example</h2>${EXAMPLES.map((each) => html`<button class="plain" @click=${() => this.#set({text: each})}>${each}</button>`)}</section>
          <p class="faint small">Choose a host on the right to see its inventory. A click on a value writes its path into the query.</p>`}
      </section>
      <section class="stack" aria-label="The answer">${this.shown(this.#answer, (answer) => (answer.hosts + answer.hidden === 0 ? this.#none() : this.#found(answer)))}</section></div>`;
  }

  #none() {
    return html`<div class="card stack"><h2>There are no hosts here</h2><p class="faint">Hosts are Agents of the assisted installer. A file of them can be applied:</p><pre>muster apply -f agents.yaml</pre></div>`;
  }

  #found(found) {
    const is = Boolean(this.text.trim());
    const moves = [['gained', found.gained], ['lost', found.lost], ['changed', found.changed]].filter(([, count]) => count);
    return html`${is ? html`<div class="stack"><div class="counts" role="status" aria-live="polite">${Object.entries(SHOW).map(([show, word]) => this.#count(show, found[show.toLowerCase()], word))}</div>
        <div class="stacked" aria-hidden="true"><span class="bar yes" .style=${`width:${share(found.matched, found.hosts)}%`}></span><span class="bar" .style=${`width:${share(found.unmatched, found.hosts)}%`}></span><span class="bar error" .style=${`width:${share(found.failed, found.hosts)}%`}></span></div>
        <p class="faint small">${counted(found.hosts, 'host')}${moves.length ? html` · labels ${moves.map(([word, count]) => `${number(count)} ${word}`).join(', ')}` : this.key && this.label ? ' · no label would change' : ''}${found.hidden ? html` · ${number(found.hidden)} you may not see` : nothing}</p></div>`
      : this.#classifications(found)}
      ${found.conflicts.length ? html`<section class="card split"><h2>${sign('wait')} Conflicts</h2><ul class="list">${found.conflicts.map((each) => this.#conflict(each))}</ul></section>` : nothing}
      ${found.outcomes.some((each) => each.verdict === 'Failed') && found.valid ? html`<section class="card"><h2 class="error">${sign('error')} Query errors</h2><ul class="list">${found.outcomes.filter((each) => each.verdict === 'Failed').map((each) => html`<li>${each.error}
        <span class="faint small">on ${counted(each.count, 'host')}, such as</span> <button class="plain mono small" @click=${() => this.#pick(each.examples[0])}>${each.examples[0]}</button></li>`)}
        ${found.outcomesInAll > found.outcomes.length ? html`<li class="faint small">${number(found.outcomesInAll - found.outcomes.length)} more</li>` : nothing}</ul></section>` : nothing}
      <m-rows .columns=${is ? (this.columns ??= this.#columns) : (this.overview ??= this.#overview)} .count=${found.rowsInAll} .fetcher=${this.fetcher} .first=${found.rows} label="Hosts" @open=${({detail}) => this.#pick(detail.name)}></m-rows>`;
  }

  #pick(host) { this.#set({host}); }

  #conflict({classification, key, value, by, count}) {
    return html`<li><b>${classification}</b> also matches ${counted(count, 'host')}, but <span class="mono">${key}=${value}</span> ${by ? html`of <b>${by}</b> comes first` : 'was set by hand'}</li>`;
  }

  #classifications({classifications}) {
    if (!classifications.length) return nothing;
    return html`<section class="card"><h2>Classifications</h2><div class="scroll" tabindex="0" role="region" aria-label="Classifications"><table><thead><tr><th>name</th><th>label</th><th class="num">hosts</th><th class="num">errors</th></tr></thead>
      <tbody>${classifications.map((each) => html`<tr><td><button class="plain" @click=${() => this.#choose(each.name)}>${each.name}</button></td><td class="mono">${each.key}=${each.value}</td><td class="num">${number(each.matched)}</td>
        <td class="num">${each.errors ? html`<span class="error">${sign('error')} ${number(each.errors)}</span>` : html`<span class="faint">0</span>`}</td></tr>`)}</tbody></table></div></section>`;
  }

  #count(show, count, word) {
    const kind = VERDICTS[show];
    return html`<button aria-pressed=${this.show === show} title="Show only these" @click=${() => { this.show = this.show === show ? 'All' : show; this.#answer.run(); }}>
      <b class=${kind === 'no' ? '' : count ? kind : 'faint'}>${number(count)}</b>${count ? sign(kind) : nothing} <span class="faint">${word}</span></button>`;
  }

  get #columns() {
    return [
      {title: 'host', width: 'minmax(150px, 1fr)', least: 150, cell: (row) => html`<span class="mono">${row.name}</span>`},
      {title: 'verdict', width: '76px', least: 76, cell: (row) => html`<span class=${VERDICTS[row.verdict]}>${sign(VERDICTS[row.verdict])}</span>`},
      {title: 'the query gave', width: 'minmax(120px, 1.2fr)', least: 120, cell: (row) => (row.error ? html`<span class="error small" title=${row.error}>${row.error}</span>` : html`<code>${(row.values ?? []).map(written).join(', ')}</code>`)},
      {title: 'label', width: 'minmax(110px, 1fr)', least: 110, cell: ({before, after, taken}) => (before === after ? html`<span class="faint">${after ?? ''}${taken ? html` ${sign('wait')}${taken.by || 'by hand'}` : ''}</span>` : html`${before ?? html`<span class="faint">none</span>`} → <b>${after ?? 'none'}</b>`)},
    ];
  }

  get #overview() {
    return [
      {title: 'host', width: 'minmax(150px, 1fr)', least: 150, cell: (row) => html`<span class="mono">${row.name}</span>`},
      {title: 'labels', width: 'minmax(160px, 2fr)', least: 160, cell: ({labels = {}}) => html`<span class="mono small">${Object.entries(labels).map(([key, text]) => `${key}=${text}`).join('  ')}</span>`},
      {title: 'errors', width: '70px', least: 70, cell: ({outcomes = []}) => (outcomes.some((each) => each.verdict === 'Failed') ? html`<span class="error">${sign('error')}</span>` : '')},
    ];
  }

  #inventory() {
    return html`<section class="card stack">${this.shown(this.#agent, ({agent, said}) => html`<div class="spread"><h2 class="mono">${agent.metadata.name}</h2><button class="plain small" @click=${() => this.#set({host: ''})}>Close</button></div>
      <p class="faint small">${agent.spec?.hostname ?? ''} ${said ? html`<span class=${VERDICTS[said.verdict]}>${sign(VERDICTS[said.verdict])}</span> ${said.error ?? `gives ${(said.values ?? []).map(written).join(', ')}`}` : nothing}</p>
      ${said?.parts?.length ? html`<div><h3>What the parts of the query gave</h3><div class="parts" tabindex="0" role="group" aria-label="Parts of the query">${said.parts.map((each) => html`<code title=${each.text}>${each.text}</code><code class="faint">${each.values.map(written).join(', ')}${each.more ? ' …' : ''}</code>`)}</div></div>` : nothing}
      ${agent.metadata.uid === undefined ? nothing : html`<div><h3>Inventory</h3><div class="inventory" tabindex="0" role="group" aria-label="Inventory"><m-tree .value=${agent.status?.inventory ?? {}} @pick=${this.#picked}></m-tree></div></div>`}`)}</section>`;
  }
}
customElements.define('m-hosts', Hosts);
