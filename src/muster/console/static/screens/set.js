// One set: its members, where it is bound, who may join and by which binding.
import {css, html, nothing} from '../../third_party/lit.js';
import {ask} from '../lib/api.js';
import {read, words} from '../lib/commands.js';
import {counted, number} from '../lib/format.js';
import {Live} from '../lib/live.js';
import {to} from '../lib/router.js';
import {Screen} from '../lib/screen.js';
import {Task} from '../lib/task.js';
import {sign, signStyles} from '../parts/small.js';

export class ClusterSet extends Screen {
  static styles = [...Screen.styles, signStyles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s5); align-content: start; }
    .columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: var(--s6); align-items: start; }
    .names { display: grid; grid-template-columns: repeat(auto-fill, minmax(210px, 1fr)); gap: 0 var(--s4); }
    .names a, li a.mono { display: block; padding: 2px 0; min-height: 24px; }
    @media (max-width: 800px) { .columns { grid-template-columns: minmax(0, 1fr); } }
  `];

  #answer = new Task(this, (signal) => ask('SetExplanation', {name: this.params.name, limit: 200}, signal));
  #join = new Task(this, (signal) => ask('JoinReview', {set: this.params.name}, signal));
  #live = new Live(this, ['managedclustersets', 'managedclusters'], () => this.#answer.refresh());

  get heading() { return this.params.name; }
  get commands() { return read('managedclustersets', {name: this.params.name}, words('muster', 'explain', 'clusterset', this.params.name)); }

  arrived() {
    this.#answer.run();
    this.#join.run();
  }

  render() {
    return html`<h1>${this.params.name}</h1>${this.shown(this.#answer, (found) => html`
      <p><b>${counted(found.members, 'cluster')}</b> <span class="faint">by ${found.rule}</span>${found.fault ? html`<br><span class="error">${sign('error')} ${found.fault}</span>` : nothing}</p>
      <div class="columns">
        <section class="card stack"><div class="spread"><h2>Members</h2><a href=${to.fleet(`set:${this.params.name}`)}>Show in the fleet</a></div>
          <div class="names">${found.clusters.map((each) => html`<a class="mono" href=${to.cluster(each)}>${each}</a>`)}</div>
          ${found.members > found.clusters.length ? html`<p class="faint small">${number(found.members - found.clusters.length)} more</p>` : nothing}
          ${found.others.length ? html`<h3>Not in it</h3><ul class="small">${found.others.map((each) => html`<li><a href=${to.fleet(`-set:${this.params.name}`)}>${number(each.count)}</a> <span class="faint">${each.reason}</span></li>`)}</ul>` : nothing}</section>
        <div class="stack"><section class="card stack"><h2>Where it may be used</h2>
          ${found.namespaces.length ? html`<p>Bound in ${found.namespaces.join(', ')}</p>` : html`<p class="faint">It is bound to no namespace that you may explain.</p>`}
          ${found.placements.length ? html`<ul>${found.placements.map((each) => html`<li><a class="mono" href=${`/placements/${each.split('/').map(encodeURIComponent).join('/')}`}>${each}</a></li>`)}</ul>` : nothing}</section>
          <section class="card stack"><h2>Who may join</h2>${this.shown(this.#join, (join) => this.#who(join))}</section></div>
      </div>`)}`;
  }

  #who({user, sets, who, whoIsHidden}) {
    const mine = sets[0];
    return html`<p>${mine?.mayJoin ? html`<span class="yes">${sign('yes')} You (${user}) may put clusters in and take them out.</span>` : html`<span class="no">${sign('no')} You (${user}) may not move clusters in or out.</span>`}</p>
      ${whoIsHidden ? html`<p class="faint">You may not list roles, so others are not shown.</p>` : html`<div class="scroll" tabindex="0" role="region" aria-label="Who may join"><table><thead><tr><th>who</th><th>by</th><th>clusters</th></tr></thead>
        <tbody>${who.map((each) => html`<tr><td>${each.kind} <span class="mono">${each.subject}</span></td><td><span class="small">${each.binding} → ${each.role}</span></td><td>${each.clusters}</td></tr>`)}</tbody></table></div>`}`;
  }
}
customElements.define('m-set', ClusterSet);
