// Ctrl-K: finds clusters, placements, sets, hosts, resolutions, label keys, screens and actions by a few letters.
import {LitElement, css, html, nothing} from '../../third_party/lit.js';
import {ask, list, names, request} from '../lib/api.js';
import {counted} from '../lib/format.js';
import {go, to} from '../lib/router.js';
import {text as literal} from '../lib/search.js';
import {base} from '../lib/styles.js';
import {Task} from '../lib/task.js';
import {applyTheme} from '../lib/theme.js';
import {SCREENS} from '../screens.js';

const ACTIONS = [
  {name: 'Use the light theme', run: () => applyTheme('light')},
  {name: 'Use the dark theme', run: () => applyTheme('dark')},
  {name: 'Use the theme of the system', run: () => applyTheme('system')},
  {name: 'New placement from an expression', run: () => go('/playground')},
  {name: 'Plan a change', run: () => go('/plan')},
  {name: 'Clusters that need attention', run: () => go(to.fleet('is:problem'))},
  {name: 'Copy a link for another browser', run: async () => {
    const answer = await request('POST', '/session/link');
    await navigator.clipboard.writeText((await answer.json()).link);
  }},
];

class Palette extends LitElement {
  static properties = {facts: {attribute: false}, text: {state: true}, at: {state: true}};
  static styles = [base, css`
    dialog { border: 1px solid var(--line); border-radius: 10px; box-shadow: var(--shadow); background: var(--raised); color: var(--ink);
      padding: 0; width: min(640px, 94vw); margin: 12vh auto auto; overflow: hidden; }
    dialog::backdrop { background: rgb(0 0 0 / 25%); }
    input { border: 0; width: 100%; padding: var(--s4) var(--s5); font: 16px/24px var(--sans); background: none; border-bottom: 1px solid var(--line); border-radius: 0; }
    input:focus-visible { outline: none; box-shadow: inset 0 -2px var(--accent); }
    [role=listbox] { max-height: 52vh; overflow: auto; padding: var(--s2); }
    [role=option] { display: grid; grid-template-columns: 84px 1fr auto; gap: var(--s3); padding: 6px var(--s3); border-radius: 4px; cursor: pointer; align-items: baseline; }
    [role=option][aria-selected=true] { background: var(--accent-wash); box-shadow: inset 2px 0 var(--accent); }
    [role=option] .name { overflow-wrap: anywhere; }
    p { padding: var(--s4) var(--s5); }
  `];

  #things = {placements: [], sets: [], resolutions: [], hosts: [], classifications: []};
  #found = new Task(this, (signal, typed) => this.#search(typed, signal));

  constructor() {
    super();
    this.text = '';
    this.at = 0;
  }

  async open() {
    const dialog = this.shadowRoot.querySelector('dialog');
    if (dialog.open) return;
    this.text = '';
    this.at = 0;
    dialog.showModal();
    this.shadowRoot.querySelector('input').value = '';
    this.shadowRoot.querySelector('input').focus();
    this.#found.run('');
    const asked = {placements: list('placements'), sets: list('managedclustersets'), resolutions: names('resolutions'), hosts: names('agents'), classifications: names('agentclassifications')};
    const found = await Promise.allSettled(Object.values(asked));
    this.#things = Object.fromEntries(Object.keys(asked).map((each, at) => [each, found[at].value?.items ?? []]));
    this.requestUpdate();
  }

  async #search(typed, signal) {
    if (!typed) return {clusters: [], keys: []};
    const expression = `managedCluster.metadata.name.contains(${literal(typed)})`;
    const [clusters, facets] = await Promise.allSettled([
      ask('FleetEvaluation', {expression, rows: {limit: 6}, mostValues: 0}, signal),
      ask('FleetFacets', {facets: ['label'], keyPrefix: typed, mostKeys: 4, mostValues: 0}, signal),
    ]);
    signal.throwIfAborted();
    return {clusters: clusters.value?.rows ?? [], inAll: clusters.value?.rowsInAll, keys: facets.value?.facets ?? []};
  }

  get #results() {
    const words = this.text.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (name) => words.every((word) => name.toLowerCase().includes(word));
    const {clusters = [], keys = []} = this.#found.value ?? {};
    return [
      ...SCREENS.filter((each) => each.nav && fits(each.nav)).map((each) => ({kind: 'screen', name: each.nav, run: () => go(each.path)})),
      ...(this.text ? clusters : []).filter((each) => fits(each.name)).map((each) => ({kind: 'cluster', name: each.name, run: () => go(to.cluster(each.name))})),
      ...this.#things.placements.filter((each) => fits(`${each.metadata.namespace}/${each.metadata.name}`)).slice(0, 8).map(({metadata, status}) => ({
        kind: 'placement', name: `${metadata.namespace}/${metadata.name}`, more: counted(status?.numberOfSelectedClusters ?? 0, 'cluster'),
        run: () => go(to.placement(metadata.namespace, metadata.name))})),
      ...this.#things.sets.filter((each) => fits(each.metadata.name)).slice(0, 6).map(({metadata}) => ({
        kind: 'set', name: metadata.name, more: this.#uses(metadata.name), run: () => go(to.set(metadata.name))})),
      ...this.#of('resolutions', 'resolution', fits, ({namespace, name}) => to.resolution(namespace, name)),
      ...this.#of('classifications', 'classification', fits, ({namespace, name}) => to.hosts({namespace, classification: name})),
      ...(this.text ? this.#of('hosts', 'host', fits, ({namespace, name}) => to.hosts({namespace, host: name})) : []),
      ...keys.filter((each) => fits(each.key)).map((each) => ({kind: 'label', name: each.key, more: counted(each.clusters, 'cluster'), run: () => go(to.fleet(`${each.key}:*`))})),
      ...ACTIONS.filter((each) => fits(each.name)).map((each) => ({kind: 'action', ...each})),
    ];
  }

  #of(things, kind, fits, url) {
    return this.#things[things].map((each) => each.metadata).filter(({namespace, name}) => fits(`${namespace}/${name}`)).slice(0, 5)
      .map((each) => ({kind, name: `${each.namespace}/${each.name}`, run: () => go(url(each))}));
  }

  /** Where a set is used: placements that name it. */
  #uses(set) {
    const used = this.#things.placements.filter((each) => each.spec.clusterSets?.includes(set)).length;
    return used ? `in ${counted(used, 'placement')}` : '';
  }

  #typed(event) {
    this.text = event.target.value;
    this.at = 0;
    this.#found.run(this.text.trim());
  }

  #key(event) {
    const count = this.#results.length;
    const move = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (move && count) {
      this.at = (this.at + move + count) % count;
      event.preventDefault();
      this.updateComplete.then(() => this.shadowRoot.querySelector('[aria-selected=true]')?.scrollIntoView({block: 'nearest'}));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      this.#run(this.#results[this.at]);
    }
  }

  #run(result) {
    if (!result) return;
    this.shadowRoot.querySelector('dialog').close();
    result.run();
  }

  render() {
    const results = this.#results;
    return html`<dialog aria-label="Search everything">
      <input role="combobox" aria-label="Search clusters, placements, sets, labels and actions" aria-expanded="true" aria-controls="results" aria-autocomplete="list"
        aria-activedescendant=${results.length ? `result-${this.at}` : nothing} placeholder="Clusters, placements, sets, hosts, operators, labels, actions"
        autocomplete="off" spellcheck="false" @input=${this.#typed} @keydown=${this.#key}>
      <div role="listbox" id="results" aria-label="Results">${results.map((each, index) => html`
        <div role="option" id=${`result-${index}`} aria-selected=${index === this.at} @click=${() => this.#run(each)} @mousemove=${() => { this.at = index; }}>
          <span class="faint small">${each.kind}</span><span class="name ${each.kind === 'action' || each.kind === 'screen' ? '' : 'mono'}">${each.name}</span>
          <span class="faint small">${each.more ?? ''}</span></div>`)}</div>
      ${results.length ? nothing : html`<p class="faint">Nothing is called so.</p>`}
    </dialog>`;
  }
}
customElements.define('m-palette', Palette);
