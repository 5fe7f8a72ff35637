// Cluster sets: exclusive keys as columns, sets as blocks whose height is their size.
import {css, html, nothing} from '../../third_party/lit.js';
import {ask, list} from '../lib/api.js';
import {read} from '../lib/commands.js';
import {counted, number} from '../lib/format.js';
import {Live} from '../lib/live.js';
import {to} from '../lib/router.js';
import {Screen} from '../lib/screen.js';
import {label, SET_LABEL, text} from '../lib/search.js';
import {Task} from '../lib/task.js';
import {shortKey} from '../parts/small.js';

export class Sets extends Screen {
  static styles = [...Screen.styles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s4); align-content: start; }
    .keys { display: grid; grid-auto-flow: column; grid-auto-columns: minmax(180px, 1fr); gap: var(--s5); overflow-x: auto; padding-bottom: var(--s2); }
    .key { display: grid; gap: 3px; align-content: start; }
    .key header { padding-bottom: var(--s2); }
    .set { display: grid; align-content: start; gap: 2px; color: var(--ink); background: var(--raised); border: 1px solid var(--line); border-radius: var(--corner); padding: var(--s2) var(--s3); min-height: 52px; border-inline-start: 3px solid var(--accent); }
    .set:hover { background: var(--hover); text-decoration: none; }
    .none { border: 1px dashed var(--line); border-inline-start: 3px dashed var(--bar-no); background: none; color: var(--faint); }
  `];

  #sets = new Task(this, (signal) => this.#load(signal));
  #live = new Live(this, ['managedclustersets', 'managedclusters'], () => this.#sets.run());

  get heading() { return 'Sets'; }
  get commands() { return read('managedclustersets'); }
  arrived() { this.#sets.run(); }

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
      const names = columns.get(key).map(({set}) => text(set.metadata.name)).join(', ');
      const found = await ask('FleetEvaluation', {expression: `!(${label(key)} in [${names}])`, rows: {limit: 0}, mostValues: 0}, signal);
      return [key, found.matched];
    }));
    return {columns: [...columns].sort(([one], [other]) => (one ? 0 : 1) - (other ? 0 : 1)), clusters: facets.clusters, without: new Map(without)};
  }

  render() {
    return html`<div><h1>Sets</h1><p class="faint">A cluster is in at most one set of each key. Sets by selector may overlap.</p></div>
      ${this.shown(this.#sets, ({columns, clusters, without}) => html`<div class="keys" tabindex="0" role="region" aria-label="Sets by key">
        ${columns.map(([key, sets]) => html`<section class="key"><header><h2>${key ? shortKey(key) : 'by selector'}</h2>
            <p class="faint small">${key ? 'exclusive label' : 'may overlap'} · ${counted(sets.length, 'set')}</p></header>
          ${sets.sort((one, other) => other.size - one.size).map(({set, size}) => this.#block(set, size, clusters))}
          ${without.get(key) ? html`<div class="set none" .style=${this.#height(without.get(key), clusters)}><span>in none</span><span class="small">${counted(without.get(key), 'cluster')}</span></div>` : nothing}
        </section>`)}</div>`)}`;
  }

  #height(size, clusters) { return `height:${Math.round(52 + 320 * (clusters ? size / clusters : 0))}px`; }

  #block({metadata, spec}, size, clusters) {
    const selector = Object.entries(spec.clusterSelector?.labelSelector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`).join(', ');
    return html`<a class="set" href=${to.set(metadata.name)} .style=${this.#height(size, clusters)}>
      <strong>${metadata.name}</strong><span class="faint small">${counted(size, 'cluster')}${clusters ? ` · ${number(Math.round(size / clusters * 100))} %` : ''}</span>
      ${selector ? html`<code class="small">${selector}</code>` : nothing}</a>`;
  }
}
customElements.define('m-sets', Sets);
