// Resolutions: what is wanted of operators, and what came of it; those without a plan first.
import {css, html, nothing} from '../../third_party/lit.js';
import {list} from '../lib/api.js';
import {read} from '../lib/commands.js';
import {counted, number} from '../lib/format.js';
import {Live} from '../lib/live.js';
import {to} from '../lib/router.js';
import {Screen} from '../lib/screen.js';
import {outcomeOf, wantText} from '../lib/resolutions.js';
import {Task} from '../lib/task.js';
import {sign, signStyles} from '../parts/small.js';

export class Operators extends Screen {
  static styles = [...Screen.styles, signStyles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s4); }
    td { padding-block: 7px; } td.name { min-width: 220px; } .num { padding-inline-end: var(--s8); }
    .chips { display: flex; gap: var(--s1); flex-wrap: wrap; }
  `];

  #answer = new Task(this, (signal) => list('resolutions', {signal}));
  #live = new Live(this, ['resolutions'], () => this.#answer.refresh());

  get heading() { return 'Operators'; }
  get commands() { const made = read('resolutions'); return {...made, kubectl: `${made.kubectl} -A`, muster: `${made.muster} -A`}; }
  arrived() { this.#answer.run(); }

  render() {
    return html`<div><h1>Operators</h1><p class="faint">Which operators work together, and why. A resolution asks; nothing is installed here.</p></div>
      ${this.shown(this.#answer, ({items, more}) => {
        if (!items.length) return html`<div class="stack"><p>There are no resolutions yet.</p><p class="faint">A Resolution names catalogs and packages: <code>muster apply -f resolution.yaml</code></p></div>`;
        const rows = items.map((each) => [each, outcomeOf(each)]).sort((one, other) => one[1].order - other[1].order);
        return html`<div class="scroll" tabindex="0" role="region" aria-label="Resolutions"><table>
          <thead><tr><th>resolution</th><th>wants</th><th class="num">planned</th><th>outcome</th><th>made</th></tr></thead><tbody>${rows.map(([each, found]) => this.#row(each, found))}</tbody></table></div>
          <p class="faint small">${counted(rows.length, 'resolution')}${more ? `, ${number(more)} more on the server` : ''}</p>`;
      })}`;
  }

  #row({metadata, spec, status}, found) {
    const fixes = status?.fixes?.length ?? 0;
    return html`<tr><td class="name"><a class="mono" href=${to.resolution(metadata.namespace, metadata.name)}>${metadata.namespace}/${metadata.name}</a></td>
      <td><span class="chips">${(spec.wants ?? []).map((each) => html`<span class="chip">${wantText(each)}</span>`)}</span></td><td class="num">${number(status?.planned ?? 0)}</td>
      <td><span class=${found.sign}>${sign(found.sign)} ${found.word}</span>${fixes ? html` <span class="faint small">${counted(fixes, 'fix', 'fixes')} tried and found good</span>` : nothing}</td>
      <td><span class="faint"><m-time .of=${metadata.creationTimestamp}></m-time></span></td></tr>`;
  }
}
customElements.define('m-operators', Operators);
