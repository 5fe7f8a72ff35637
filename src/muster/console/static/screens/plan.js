// A plan: what writing objects and labels would change, before it is written; then exactly that is written, or nothing.
import {css, html, nothing} from '../../third_party/lit.js';
import {ask, fromYaml, get, list, toYaml} from '../lib/api.js';
import {asked, heredoc, words} from '../lib/commands.js';
import {counted} from '../lib/format.js';
import {Live} from '../lib/live.js';
import {note, to} from '../lib/router.js';
import {Screen} from '../lib/screen.js';
import {Task} from '../lib/task.js';
import {labelEdit} from '../lib/ways.js';
import {isWritten, MANAGER, replacing, writeAll} from '../lib/writing.js';
import {shortKey, sign, signStyles} from '../parts/small.js';
import '../parts/editor.js';
import '../parts/outcome.js';

const HOW = {apply: 'apply', replace: 'replace', delete: 'delete'};
const HINTS = {
  apply: 'Merged into what is there, as server-side apply does it.',
  replace: 'Whole objects in place of those that are there.',
  delete: 'These objects would be deleted.',
};
const PAUSE = 1500; // ms between two looks at whether the plan still holds
const LONGEST = 1_000_000; // characters of a file that is dropped

export class Plan extends Screen {
  static properties = {...Screen.properties, yaml: {state: true}, labels: {state: true}, how: {state: true}, force: {state: true}, most: {state: true},
    empty: {state: true}, over: {state: true}, outdated: {state: true}, written: {state: true}, writing: {state: true}};
  static styles = [...Screen.styles, signStyles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s4); align-content: start; }
    .columns { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: var(--s6); align-items: start; }
    m-editor { min-height: 220px; }
    .drop { display: grid; gap: var(--s3); border-radius: var(--corner); }
    .drop.over { outline: 2px dashed var(--accent); outline-offset: 4px; }
    .edits li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: var(--s3); align-items: center; padding: var(--s1) 0; border-top: 1px solid var(--line); }
    .edits li:first-child { border-top: 0; }
    .tabs { display: flex; gap: 2px; } .tabs button { border: 0; background: none; color: var(--faint); padding: 5px 10px; }
    .tabs button[aria-pressed=true] { color: var(--ink); background: var(--hover); font-weight: 500; }
    form { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr) minmax(0, 2fr) auto; gap: var(--s2); }
    form input { min-width: 0; }
    .options { display: flex; gap: var(--s2) var(--s5); flex-wrap: wrap; align-items: center; }
    .options label { display: flex; gap: var(--s2); align-items: center; } .options input[type=number] { width: 64px; }
    .options input[type=checkbox] { min-height: 0; width: 16px; height: 16px; margin: 0; accent-color: var(--accent); }
    .file { display: inline-block; position: relative; overflow: hidden; } .file input { position: absolute; inset: 0; opacity: 0; width: 100%; min-height: 0; padding: 0; cursor: pointer; }
    .file:focus-within span { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
    .file span { color: var(--accent); cursor: pointer; }
    .empty { display: grid; gap: var(--s3); padding: var(--s6); border: 1px dashed var(--line); border-radius: var(--corner); }
    .apply { display: flex; gap: var(--s4); align-items: center; flex-wrap: wrap; position: sticky; bottom: 0; background: var(--paper); padding: var(--s3) 0; border-top: 1px solid var(--line); }
    .box { border-inline-start: 3px solid var(--wait); background: var(--wait-wash); padding: var(--s2) var(--s4); border-radius: 0 var(--corner) var(--corner) 0; display: grid; gap: var(--s1); justify-items: start; }
    .box.good { border-color: var(--yes); background: none; }
    @media (max-width: 980px) { .columns { grid-template-columns: minmax(0, 1fr); } form { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
  `];

  #read = new Task(this, async (signal) => (this.yaml.trim() ? fromYaml(this.yaml, signal) : {objects: []}));
  #answer = new Task(this, (signal) => this.#plan(signal));
  #check = new Task(this, (signal) => this.#again(signal));
  #choices = new Task(this, async (signal) => (await list('placements', {signal})).items);
  #live = new Live(this, ['placements', 'managedclusters', 'managedclustersets'], () => this.#changed());
  #asked = {};

  constructor() {
    super();
    Object.assign(this, {yaml: '', labels: [], how: 'apply', force: false, most: '', empty: false, outdated: []});
  }

  get heading() { return 'Plan'; }

  get commands() {
    // A label is set whoever has set it before; one that is taken off cannot be said in a file.
    const said = this.labels.every(({labels}) => !Object.values(labels).includes(null)) && (this.how === 'apply' || (this.how === 'delete' && !this.labels.length));
    const flags = [this.most && '--fail-if-removes', this.most, this.empty && '--fail-if-empty', (this.force || this.labels.length) && '--force-conflicts', this.how === 'delete' && '--delete'];
    const text = [...this.labels.map((each) => JSON.stringify(labelled(each), null, 2)), this.yaml.trim()].filter(Boolean).join('\n---\n');
    const muster = said && text ? `${words('muster', 'plan', '-f', '-', '--field-manager', MANAGER, ...flags)} ${heredoc(text)}` : '';
    return this.#asked.spec ? asked('Plan', this.#asked.spec, muster) : {};
  }

  async arrived() {
    const given = (key) => this.query.get(key) ?? '';
    this.yaml = given('yaml');
    this.labels = parsed(given('labels'));
    this.how = Object.hasOwn(HOW, given('how')) ? given('how') : 'apply';
    this.most = given('most');
    this.empty = given('empty') === '1';
    this.force = given('force') === '1';
    this.written = undefined;
    this.#choices.run();
    if (given('placement') && !this.yaml) await this.#edit(given('placement'));
    this.#ask();
  }

  /** A saved placement to be edited: as it is, without what the server writes. */
  async #edit(of) {
    const [namespace, name] = of.split('/');
    const {apiVersion, kind, metadata: {labels, annotations}, spec} = await get('placements', {namespace, name});
    this.yaml = await toYaml({apiVersion, kind, metadata: {name, namespace, ...(labels ? {labels} : {}), ...(annotations ? {annotations} : {})}, spec});
    this.how = 'replace';
    this.#note();
  }

  #note() {
    note(to.plan({labels: this.labels, yaml: this.yaml, how: this.how === 'apply' ? '' : this.how, most: this.most, empty: this.empty ? '1' : '', force: this.force ? '1' : ''}));
  }

  #set(values) {
    Object.assign(this, values);
    this.#note();
    this.#ask();
  }

  #ask() {
    this.outdated = [];
    this.written = undefined;
    this.#answer.run();
  }

  async #plan(signal) {
    await this.#read.run();
    const {objects = [], problem, line, column} = this.#read.value ?? {};
    const diagnostics = problem ? [{message: problem, line, column, severity: 'error'}] : [];
    const real = objects.filter((each) => each && typeof each === 'object' && !Array.isArray(each));
    if (problem || (!real.length && !this.labels.length)) {
      this.#asked = {};
      return {diagnostics, nothing: true};
    }
    const spec = {
      ...(this.labels.length ? {labels: this.labels.map(labelEdit)} : {}),
      ...await this.#written(real, signal),
      fieldManager: MANAGER, ...(this.force ? {forceConflicts: true} : {}),
      guards: {...(Number(this.most) > 0 ? {failIfRemoves: Number(this.most)} : {}), ...(this.empty ? {failIfEmpty: true} : {})},
      mostNames: 50,
    };
    const status = await ask('Plan', spec, signal);
    this.#asked = {spec, objects: real, token: status.token};
    return {...status, count: real.length + this.labels.length};
  }

  #written(objects, signal) {
    if (!objects.length) return {};
    if (this.how === 'replace') return replacing(objects, signal);
    const named = ({apiVersion = '', kind = '', metadata}) => ({apiVersion, kind, name: metadata?.name ?? '', ...(metadata?.namespace ? {namespace: metadata.namespace} : {})});
    return this.how === 'delete' ? {delete: objects.map(named)} : {objects};
  }

  /** The fleet has moved: is it still the plan that is shown? Asked once in a while, however busy the fleet is. */
  #changed() {
    this.soon ??= setTimeout(() => {
      this.soon = undefined;
      if (this.isConnected && this.#asked.token && !this.written && !this.#answer.pending) this.#check.refresh();
    }, PAUSE);
  }

  async #again(signal) {
    const {spec, token} = this.#asked;
    const {changed} = await ask('Plan', {...spec, token}, signal);
    if (token === this.#asked.token) this.outdated = changed;
  }

  async #apply() {
    const {spec, token} = this.#asked;
    this.writing = true;
    try {
      const {changed} = await ask('Plan', {...spec, token});
      this.outdated = changed;
      if (!changed.length) this.written = await writeAll(spec);
    } catch (error) {
      this.written = [{kind: '', name: 'the plan', failure: error}];
    }
    this.writing = false;
  }

  render() {
    return html`<div><h1>Plan</h1><p class="faint">What writing would change, before it is written; and it is written only while that is so.</p></div>
      <div class="columns">
        <section class="stack" aria-label="What would be written">${this.#edits()}${this.#editor()}${this.#options()}</section>
        <section class="stack" aria-label="What would change">${this.shown(this.#answer, (found) => (found.nothing ? this.#start(found) : this.#outcome(found)))}</section>
      </div>`;
  }

  #edits() {
    return html`<div class="card stack"><h2>Labels of clusters</h2>
      ${this.labels.length ? html`<ul class="edits">${this.labels.flatMap(({name, labels}, at) => Object.entries(labels).map(([key, text]) => html`<li>
        <span><a class="mono" href=${to.cluster(name)}>${name}</a> <span class="mono">${text === null ? html`<del>${shortKey(key)}</del>` : `${shortKey(key)}=${text}`}</span></span>
        <button class="plain small" aria-label=${`Do not change ${key} of ${name}`} @click=${() => this.#drop(at, key)}>remove</button></li>`))}</ul>` : nothing}
      <form @submit=${this.#label}><input name="name" required placeholder="cluster" aria-label="Cluster"><input name="key" required placeholder="label" aria-label="Label">
        <input name="value" placeholder="value" title="No value takes the label off" aria-label="Value; none takes the label off"><button>Add</button></form></div>`;
  }

  #drop(at, key) {
    const labels = this.labels.map((each, place) => (place === at ? {...each, labels: Object.fromEntries(Object.entries(each.labels).filter(([one]) => one !== key))} : each));
    this.#set({labels: labels.filter((each) => Object.keys(each.labels).length)});
  }

  #label(event) {
    event.preventDefault();
    const {name, key, value} = Object.fromEntries(new FormData(event.target));
    event.target.reset();
    const present = this.labels.find((each) => each.name === name.trim());
    const labels = {...present?.labels, [key.trim()]: value.trim() || null};
    this.#set({labels: [...this.labels.filter((each) => each !== present), {name: name.trim(), labels}]});
  }

  #editor() {
    const {problem, line, column} = this.#read.value ?? {};
    return html`<div class="drop ${this.over ? 'over' : ''}" @dragover=${this.#over} @dragleave=${() => { this.over = false; }} @drop=${this.#dropped}>
      <div class="spread"><h2>Objects</h2><label class="file small"><span>Open files</span><input type="file" multiple accept=".yaml,.yml,.json" @change=${(event) => this.#files(event.target.files)}></label></div>
      <m-editor .value=${this.yaml} language="yaml" label="Objects as YAML" placeholder="Paste YAML, or drop files here"
        .diagnostics=${problem ? [{message: problem, line, severity: 'error'}] : []} @edited=${({detail}) => { if (detail !== this.yaml) this.#set({yaml: detail}); }}></m-editor>
      ${problem ? html`<p class="small error">${sign('error')} ${problem} <span class="faint">line ${line}${column ? `, column ${column}` : ''}</span></p>` : nothing}</div>`;
  }

  #over(event) {
    event.preventDefault();
    this.over = true;
  }

  #dropped(event) {
    event.preventDefault();
    this.over = false;
    if (event.dataTransfer.files.length) this.#files(event.dataTransfer.files);
    else this.#set({yaml: joined(this.yaml, event.dataTransfer.getData('text/plain'))});
  }

  async #files(files) {
    const texts = await Promise.all([...files].filter((each) => each.size < LONGEST).map((each) => each.text()));
    this.#set({yaml: texts.reduce(joined, this.yaml)});
  }

  #options() {
    return html`<div class="options"><div class="tabs" role="group" aria-label="How objects are written">${Object.keys(HOW).map((each) => html`
        <button aria-pressed=${each === this.how} @click=${() => this.#set({how: each})}>${each}</button>`)}</div><span class="faint small">${HINTS[this.how]}</span></div>
      <div class="options small">
        <label>Stop if <input type="number" min="1" aria-label="How many clusters may not leave a placement" .value=${this.most} @input=${(event) => this.#set({most: event.target.value})}> or more clusters leave a placement</label>
        <label><input type="checkbox" .checked=${this.empty} @change=${(event) => this.#set({empty: event.target.checked})}> Stop if a placement is left empty</label></div>`;
  }

  #start({diagnostics}) {
    if (diagnostics.length) return html`<p class="faint">Not readable yet; the editor shows where.</p>`;
    const of = (this.#choices.value ?? []).slice(0, 6);
    return html`<div class="empty"><h2>Nothing is planned yet</h2>
      <p class="faint">Paste objects, drop files, or change a label of a cluster. What placements, sets and hosts would gain and lose stands here while you type.</p>
      ${of.length ? html`<p>Start from a placement: ${of.map(({metadata}, at) => html`${at ? ', ' : nothing}<a class="mono" href=${`/plan?placement=${encodeURIComponent(`${metadata.namespace}/${metadata.name}`)}`}>${metadata.namespace}/${metadata.name}</a>`)}</p>` : nothing}</div>`;
  }

  #outcome(found) {
    return html`${this.outdated.length ? html`<div class="box" role="alert"><h2>${sign('wait')} This is not what would happen any more</h2>
        <ul class="small">${this.outdated.map((each) => html`<li>${each}</li>`)}</ul><button @click=${this.#ask}>Plan again</button></div>` : nothing}
      <m-outcome class=${this.outdated.length || (this.#answer.pending && this.#answer.slow) ? 'stale' : ''} .plan=${found}></m-outcome>
      ${this.#conflicts(found)}${this.written ? this.#done() : this.#button(found)}`;
  }

  /** Fields that somebody else owns: taking them over is one button, and another plan. */
  #conflicts({refused}) {
    if (this.force || !refused.some((each) => each.code === 'Conflict')) return nothing;
    return html`<p><button @click=${() => this.#set({force: true})}>Take over fields that others own</button></p>`;
  }

  #button({allowed, permissions, refused, placements, count}) {
    const moved = placements.reduce((sum, each) => sum + each.gained.count + each.lost.count, 0);
    const missing = permissions.filter((each) => !each.allowed).length;
    const foreign = this.how === 'delete' || (this.#asked.objects ?? []).some((each) => !isWritten(each));
    if (foreign) return this.#command();
    const why = refused.length ? 'The server would refuse it.' : missing ? `You lack ${counted(missing, 'permission')}.` : allowed ? '' : 'A guard objects.';
    const held = placements.some((each) => each.guards.some((guard) => !guard.allowed));
    return html`<div class="apply"><button class="primary" ?disabled=${Boolean(why) || this.outdated.length > 0 || this.writing || this.#answer.pending} @click=${this.#apply}>
        ${this.writing ? 'Writing …' : `Apply ${counted(count, 'change')}, move ${counted(moved, 'cluster')}`}</button>
      ${why ? html`<span class="wait">${sign('wait')} ${why}</span>` : html`<span class="faint small">${held ? 'What guards hold waits for an approval. ' : ''}Only while this is the plan: token <span class="mono">${this.#asked.token.slice(0, 16)}…</span></span>`}</div>`;
  }

  /** What the console does not write: deletions, and kinds that it does not know. */
  #command() {
    const text = this.how === 'delete' ? `muster delete -f - ${heredoc(this.yaml)}` : `muster apply -f - --field-manager ${MANAGER} --plan-token ${this.#asked.token} ${heredoc(this.yaml)}`;
    return html`<div class="apply"><span class="faint">${this.how === 'delete' ? 'The console deletes nothing.' : 'The console does not write all of these kinds.'}</span>
      <m-copy label=${this.how === 'delete' ? 'Copy as muster delete' : 'Copy as muster apply'} .text=${text}></m-copy></div>`;
  }

  #done() {
    const refused = this.written.filter((each) => each.failure);
    return html`<div class="box ${refused.length ? '' : 'good'}" role="status"><h2>${refused.length ? html`${sign('error')} ${counted(refused.length, 'object')} could not be written` : html`<span class="yes">${sign('yes')} Written</span>`}</h2>
      <ul>${this.written.map(({kind, namespace, name, failure}) => html`<li><span class=${failure ? 'error' : 'yes'}>${sign(failure ? 'error' : 'yes')}</span> ${kind} ${this.#link(kind, namespace, name)}
        ${failure ? html`<span class="small">${failure.message}</span>` : nothing}</li>`)}</ul>
      <button @click=${() => this.#set({yaml: '', labels: []})}>Next plan</button></div>`;
  }

  #link(kind, namespace, name) {
    const known = {ManagedCluster: () => to.cluster(name), ManagedClusterSet: () => to.set(name), Placement: () => to.placement(namespace, name), Resolution: () => to.resolution(namespace, name),
      AgentClassification: () => to.hosts({namespace, classification: name})}[kind];
    const text = [namespace, name].filter(Boolean).join('/');
    return known ? html`<a class="mono" href=${known()}>${text}</a>` : html`<span class="mono">${text}</span>`;
  }
}

/** A cluster with labels, as a file has it. */
const labelled = ({name, labels}) => ({apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster', metadata: {name, labels}});
const joined = (one, other) => (one.trim() ? `${one.trimEnd()}\n---\n${other}` : other);

/** Labels of an address, which anybody may have written. */
function parsed(text) {
  try {
    const found = JSON.parse(text || '[]');
    return found.filter((each) => typeof each.name === 'string' && each.labels && typeof each.labels === 'object')
      .map(({name, labels}) => ({name, labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, value === null ? null : String(value)]))}));
  } catch {
    return [];
  }
}
customElements.define('m-plan', Plan);
