// One placement and one cluster: what was looked at, in order, with the values that were found, and the nearest way in.
import {css, html, nothing} from '../../third_party/lit.js';
import {ask} from '../lib/api.js';
import {asked, words} from '../lib/commands.js';
import {Live} from '../lib/live.js';
import {to} from '../lib/router.js';
import {Screen} from '../lib/screen.js';
import {Task} from '../lib/task.js';
import {editsIn, waysIn} from '../lib/ways.js';
import {sign, signStyles} from '../parts/small.js';

export class Why extends Screen {
  static styles = [...Screen.styles, signStyles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s5); max-width: 960px; }
    .verdict { display: grid; gap: var(--s1); }
    h1 .times { color: var(--faint); font-weight: 400; padding: 0 var(--s2); }
    .tree { display: grid; }
    .tree li { display: grid; grid-template-columns: 22px minmax(0, 1fr); position: relative; }
    .tree > li { padding: 6px 0; }
    .tree > li:not(:last-child)::before, .observed > li:not(:last-child)::before { content: ''; position: absolute; inset-inline-start: 7px; top: 26px; bottom: -6px;
      border-inline-start: 1px solid var(--line); }
    .check { display: grid; grid-template-columns: minmax(0, 1fr); gap: 2px; }
    .line { display: flex; justify-content: space-between; gap: var(--s4); flex-wrap: wrap; }
    .beyond { color: var(--faint); }
    .observed { margin-top: var(--s1); }
    .observed li { padding: 2px 0; }
    .pair { display: grid; grid-template-columns: minmax(0, 1fr) minmax(80px, auto); gap: var(--s4); }
    .pair .found { text-align: end; }
    .way { border-inline-start: 3px solid var(--accent); padding: var(--s2) var(--s4); background: var(--accent-wash); border-radius: 0 var(--corner) var(--corner) 0; display: flex; gap: var(--s4); justify-content: space-between; align-items: center; flex-wrap: wrap; }
    .scores { display: grid; grid-template-columns: auto auto auto; justify-content: start; gap: 2px var(--s5); }
  `];

  #answer = new Task(this, async (signal) => ask('PlacementExplanation', this.#spec, signal));
  #live = new Live(this, ['managedclusters', 'placements'], () => this.#answer.refresh());

  get #spec() {
    const {namespace, name, cluster} = this.params;
    return {namespace, name, cluster, limit: 0};
  }

  get heading() { return `${this.params.name} × ${this.params.cluster}`; }

  get commands() {
    const {namespace, name, cluster} = this.params;
    return asked('PlacementExplanation', this.#spec, words('muster', 'explain', 'placement', name, '-n', namespace, '--cluster', cluster));
  }

  arrived() { this.#answer.run(); }

  render() {
    const {namespace, name, cluster} = this.params;
    return html`<h1><a class="mono" href=${to.placement(namespace, name)}>${name}</a><span class="times">×</span><a class="mono" href=${to.cluster(cluster)}>${cluster}</a></h1>
      ${this.shown(this.#answer, ({cluster: found}) => html`
        <div class="verdict"><h2>${found.selected ? html`<span class="yes">${sign('yes')} selected</span>${found.rank ? html` <span class="faint">rank ${found.rank}, score ${found.total}</span>` : nothing}`
          : html`<span class="no">${sign('no')} not selected, removed by ${found.stage}</span>`}</h2>
          ${found.selected ? html`<p class="faint">${found.cut}</p>` : html`<p>${found.summary}</p>`}</div>
        ${this.#way(found)}
        <section class="stack"><h2>What was looked at</h2><ol class="tree">${this.#checks(found)}</ol></section>
        ${found.scores?.length ? html`<section class="stack"><h2>Scores</h2><div class="scores">${found.scores.map((each) => html`
          <span>${each.scorer}</span><span class="mono">${each.score} × ${each.weight}</span><span class="faint mono">${each.score * each.weight}</span>`)}</div></section>` : nothing}
        <p><a href=${to.cluster(cluster)}>All placements of this cluster</a> · <a href=${to.placement(namespace, name)}>All clusters of this placement</a></p>`)}`;
  }

  #way(found) {
    if (found.selected) return nothing;
    const failed = found.checks.filter((each) => !each.passed && each.why.code !== 'SetNotNamed' && each.why.code !== 'SetNotBound');
    // Of several sets and of several predicates one is enough: the first of each kind is the way that is told.
    const kinds = new Map();
    for (const each of failed) {
      const kind = each.name.split(' ')[0];
      const passes = found.checks.some((other) => other.passed && other.name.split(' ')[0] === kind);
      if (!kinds.has(kind) && !(passes && kind === 'set')) kinds.set(kind, each.why);
    }
    const reasons = [...kinds.values()];
    const ways = [...new Set(reasons.flatMap(waysIn))];
    const told = ways.length ? ways : waysIn(found.why);
    const labels = editsIn(reasons, this.params.cluster);
    return told.length ? html`<div class="way"><div><h3>Nearest way in</h3><p>${told.join(', and ')}</p></div>
      ${labels.length ? html`<a class="button" href=${to.plan({labels})}>Plan this</a>` : nothing}</div>` : nothing;
  }

  /** Checks in order; those after the stage that removed the cluster were not reached, and are told in faint ink. */
  #checks(found) {
    const named = found.checks.filter((each) => !['SetNotNamed', 'SetNotBound'].includes(each.why.code));
    const rest = found.checks.length - named.length;
    const sets = named.filter((each) => each.name.startsWith('set '));
    const inOne = sets.some((each) => each.passed);
    let over = false;
    return html`${named.map((each) => {
      const isSet = each.name.startsWith('set ');
      if (!isSet && sets.length && !inOne) over = true;
      const beyond = over;
      if (!each.passed && !isSet) over = over || each.name.startsWith('taint');
      const kind = each.passed ? 'yes' : beyond ? 'open' : isSet && inOne ? 'no' : 'error';
      return html`<li class=${beyond ? 'beyond' : ''}><span class=${kind}>${sign(kind)}</span>
        <div class="check"><div class="line"><strong>${each.name}</strong>${each.field ? html`<span class="faint small mono">${each.field}</span>` : nothing}</div>
          <p class="small">${each.reason}${beyond && !each.passed ? ' (would fail too)' : ''}</p>${this.#observed(each)}</div></li>`;
    })}${rest ? html`<li><span class="no">${sign('open')}</span><p class="faint small">${rest} more sets that this placement does not choose from</p></li>` : nothing}`;
  }

  #observed({observed}) {
    if (!observed?.length) return nothing;
    return html`<ul class="observed">${observed.map((each) => {
      const kind = each.isError ? 'error' : each.value === 'true' ? 'yes' : each.value === 'false' ? 'no' : 'open';
      return html`<li><span class=${kind}>${sign(kind)}</span><div class="pair"><code>${each.short || each.text}</code><code class="found ${each.isError ? 'error' : ''}">${each.value}</code></div></li>`;
    })}</ul>`;
  }
}
customElements.define('m-why', Why);
