// All placements: what each selects, and whether it is satisfied; those with a problem first.
import {css, html, nothing} from '../../third_party/lit.js';
import {list} from '../lib/api.js';
import {read} from '../lib/commands.js';
import {counted, number} from '../lib/format.js';
import {Live} from '../lib/live.js';
import {note, href, to} from '../lib/router.js';
import {Screen} from '../lib/screen.js';
import {Task} from '../lib/task.js';
import {sign, signStyles} from '../parts/small.js';

/** How a placement is, from its conditions. */
export function state({status = {}}) {
  const found = Object.fromEntries((status.conditions ?? []).map((each) => [each.type, each]));
  const wrong = found.PlacementMisconfigured;
  const satisfied = found.PlacementSatisfied;
  if (wrong?.status === 'True') return {sign: 'error', word: 'misconfigured', message: wrong.message, order: 0};
  const held = found.RemovalsHeld;
  if (held?.status === 'True') return {sign: 'wait', word: 'removals held', message: held.reason, order: 1};
  if (!satisfied) return {sign: 'wait', word: 'not decided yet', order: 2};
  if (satisfied.status !== 'True') return {sign: 'wait', word: 'not satisfied', message: satisfied.message, order: 1};
  return {sign: 'yes', word: 'satisfied', order: 3};
}

export class Placements extends Screen {
  static properties = {...Screen.properties, filter: {state: true}};
  static styles = [...Screen.styles, signStyles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s4); }
    input { min-width: 260px; }
    td.name { min-width: 200px; }
    .num { padding-inline-end: var(--s8); }
    td { padding-block: 7px; }
  `];

  #placements = new Task(this, (signal) => list('placements', {limit: 1000, signal}));
  #live = new Live(this, ['placements'], () => this.#placements.refresh());

  get heading() { return 'Placements'; }
  get commands() { const made = read('placements'); return {...made, kubectl: `${made.kubectl} -A`, muster: `${made.muster} -A`}; }

  arrived() {
    this.filter = this.query.get('q') ?? '';
    this.#placements.run();
  }

  render() {
    return html`<div class="spread"><h1>Placements</h1>
      <input type="search" aria-label="Filter placements by name" placeholder="a part of a name" .value=${this.filter ?? ''}
        @input=${(event) => { this.filter = event.target.value; note(href('/placements', {q: this.filter})); }}></div>
      ${this.shown(this.#placements, ({items, more}) => {
        if (!items.length) return html`<div class="stack"><p>There are no placements yet.</p><p><a href="/playground">Write one in the playground</a></p></div>`;
        const rows = items.filter(({metadata}) => `${metadata.namespace}/${metadata.name}`.includes(this.filter ?? ''))
          .map((each) => [each, state(each)]).sort((one, other) => one[1].order - other[1].order);
        return html`<div class="scroll" tabindex="0" role="region" aria-label="Placements"><table>
          <thead><tr><th>placement</th><th>sets</th><th class="num">wanted</th><th class="num">selected</th><th>state</th><th>made</th></tr></thead>
          <tbody>${rows.map(([each, found]) => this.#row(each, found))}</tbody></table></div>
          <p class="faint small">${counted(rows.length, 'placement')}${more ? `, ${number(more)} more on the server` : ''}</p>`;
      })}`;
  }

  #row({metadata, spec, status}, found) {
    return html`<tr>
      <td class="name"><a class="mono" href=${to.placement(metadata.namespace, metadata.name)}>${metadata.namespace}/${metadata.name}</a></td>
      <td>${spec.clusterSets?.length ? spec.clusterSets.map((each, at) => html`${at ? ', ' : nothing}<a href=${to.set(each)}>${each}</a>`) : html`<span class="faint">all bound</span>`}</td>
      <td class="num">${spec.numberOfClusters ?? html`<span class="faint">all</span>`}</td>
      <td class="num">${number(status?.numberOfSelectedClusters ?? 0)}</td>
      <td><span class=${found.sign}>${sign(found.sign)}</span> <span class=${found.sign === 'yes' ? 'faint' : found.sign}>${found.word}</span>${found.message ? html` <span class="faint small">${found.message}</span>` : nothing}</td>
      <td><span class="faint"><m-time .of=${metadata.creationTimestamp}></m-time></span></td></tr>`;
  }
}
customElements.define('m-placements', Placements);
