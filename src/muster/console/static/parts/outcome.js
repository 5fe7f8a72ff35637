// What a plan comes to: placements with kept, gained and lost, guards, sets, hosts, what is refused, what it takes.
import {LitElement, css, html, nothing} from '../../third_party/lit.js';
import {counted, number} from '../lib/format.js';
import {to} from '../lib/router.js';
import {base} from '../lib/styles.js';
import {sign, signStyles} from './small.js';
import './copy.js';

const SHOWN = 12; // names in a list before "show all"

class Outcome extends LitElement {
  static properties = {plan: {attribute: false}, all: {state: true}};
  static styles = [base, signStyles, css`
    :host { display: grid; gap: var(--s4); }
    .head { display: flex; gap: var(--s2) var(--s4); align-items: baseline; flex-wrap: wrap; }
    .three { display: grid; grid-template-columns: minmax(72px, 1fr) minmax(0, 3fr) minmax(0, 4fr); gap: var(--s5); border-top: 1px solid var(--line); padding-top: var(--s3); margin-top: var(--s3); }
    .three h3 { margin-bottom: var(--s1); }
    .three b { font: 600 20px/24px var(--sans); font-variant-numeric: tabular-nums; }
    .names li { padding: 2px 0; } .names p { padding-inline-start: 1.1em; }
    .guards { margin-top: var(--s2); display: grid; gap: 2px; }
    td.change { white-space: nowrap; }
    @media (max-width: 640px) { .three { grid-template-columns: minmax(0, 1fr); gap: var(--s3); } }
  `];

  render() {
    const {placements, placementsInAll, sets, hosts, refused, permissions, restricted, hidden, diagnostics} = this.plan;
    const still = !placements.length && !sets.length && !hosts?.labels.length && !hosts?.classifications.length;
    const missing = permissions.filter((each) => !each.allowed);
    return html`
      ${refused.length ? html`<section class="card"><h2 class="error">${sign('error')} The server would refuse ${counted(refused.length, 'object')}</h2>
        <ul>${refused.map((each) => html`<li>${each.kind} <span class="mono">${[each.namespace, each.name].filter(Boolean).join('/')}</span> <span class="small">${each.message}</span></li>`)}</ul></section>` : nothing}
      ${missing.length ? this.#missing(missing) : nothing}
      ${placements.map((each) => this.#placement(each))}
      ${placementsInAll > placements.length ? html`<p class="faint small">${number(placementsInAll - placements.length)} more placements</p>` : nothing}
      ${still ? html`<section class="card"><h2>${sign('yes')} No decision would change</h2><p class="faint">Placements, sets and hosts stay as they are.</p></section>` : nothing}
      ${sets.length ? this.#sets(sets) : nothing}
      ${hosts && (hosts.labels.length || hosts.classifications.length) ? this.#hosts(hosts) : nothing}
      ${diagnostics.length ? html`<ul class="small">${diagnostics.map((each) => html`<li class="faint">${sign('open')} ${each.message}</li>`)}</ul>` : nothing}
      ${restricted ? html`<p class="faint small">There may be more: ${hidden ? `${counted(hidden, 'cluster')} and ` : ''}what you may not see is left out.</p>` : nothing}`;
  }

  #placement(each) {
    const {namespace, name, before, after, gained, lost, kept, created, deleted, fault, guards} = each;
    const link = created ? html`<span class="mono">${namespace}/${name}</span>` : html`<a class="mono" href=${to.placement(namespace, name)}>${namespace}/${name}</a>`;
    return html`<section class="card" aria-label=${`${namespace}/${name}`}><div class="head"><h2>${link}</h2>
        <span><b>${number(before)} → ${number(after)}</b> <span class="faint">clusters</span></span>
        ${created ? html`<span class="chip">new</span>` : nothing}${deleted ? html`<span class="chip">deleted</span>` : nothing}</div>
      ${fault ? html`<p class="error">${sign('error')} ${fault}</p>` : nothing}
      ${guards.length ? html`<ul class="guards">${guards.map((guard) => html`<li><span class=${guard.allowed ? 'yes' : 'wait'}>${sign(guard.allowed ? 'yes' : 'wait')} ${guard.allowed ? 'allowed' : 'held'}:</span> ${guard.message} <span class="faint small">${guard.code}</span></li>`)}</ul>` : nothing}
      <div class="three">
        <div><h3>kept</h3><b>${number(kept.count)}</b></div>
        <div><h3>gained</h3>${gained.count ? html`<ul class="names">${this.#few(gained.names).map((one) => html`<li><span class="yes">${sign('yes')}</span> <a class="mono" href=${to.cluster(one)}>${one}</a></li>`)}${this.#more(gained, gained.names.length)}</ul>` : html`<span class="faint">none</span>`}</div>
        <div><h3>lost</h3>${lost.count ? html`<ul class="names">${this.#few(lost.clusters).map((one) => html`<li><span class="error" aria-hidden="true">−</span> <a class="mono" href=${to.cluster(one.name)}>${one.name}</a>
          <p class="faint small">${one.reason}</p></li>`)}${this.#more(lost, lost.clusters.length)}</ul>` : html`<span class="faint">none</span>`}</div>
      </div></section>`;
  }

  #few(names) { return this.all ? names : names.slice(0, SHOWN); }

  #more({count, unnamed}, named) {
    const shown = Math.min(named, this.all ? named : SHOWN);
    if (count <= shown) return nothing;
    return html`<li class="faint small">${number(count - shown)} more${unnamed ? `, ${number(unnamed)} of them you may not see` : ''}
      ${named > shown ? html`<button class="plain" @click=${() => { this.all = true; }}>show ${number(named)}</button>` : nothing}</li>`;
  }

  #sets(sets) {
    return html`<section class="card"><h2>Sets</h2><div class="scroll" tabindex="0" role="region" aria-label="Sets that change"><table><thead><tr><th>set</th><th>joins</th><th>leaves</th></tr></thead>
      <tbody>${sets.map((each) => html`<tr><td><a href=${to.set(each.name)}>${each.name}</a>${each.fault ? html` <span class="error small">${each.fault}</span>` : nothing}</td>
        <td>${this.#clusters(each.gained, 'yes', '+')}</td><td>${this.#clusters(each.lost, 'error', '−')}</td></tr>`)}</tbody></table></div></section>`;
  }

  #clusters({count, names}, kind, mark) {
    if (!count) return nothing;
    const few = names.slice(0, 3);
    return html`<span class=${kind}>${mark} ${number(count)}</span> <span class="mono small">${few.join(', ')}${count > few.length ? ' …' : ''}</span>`;
  }

  #hosts({labels, classifications}) {
    return html`<section class="card"><h2>Hosts</h2>
      ${classifications.length ? html`<ul>${classifications.map((each) => html`<li><span class="mono">${each.namespace}/${each.name}</span> ${number(each.matchedBefore)} → <b>${number(each.matchedAfter)}</b> <span class="faint">hosts</span>
        ${each.errorsAfter ? html`<span class="error">${sign('error')} fails on ${number(each.errorsAfter)}</span>` : nothing}</li>`)}</ul>` : nothing}
      ${labels.length ? html`<div class="scroll" tabindex="0" role="region" aria-label="Labels of hosts that change"><table><thead><tr><th>host</th><th>label</th><th>change</th></tr></thead>
        <tbody>${this.#few(labels).map((each) => html`<tr><td class="mono">${each.agent}</td><td>${each.key}</td><td class="change">${each.before ?? html`<span class="faint">none</span>`} → <b>${each.after ?? 'none'}</b></td></tr>`)}</tbody></table></div>
        ${labels.length > SHOWN && !this.all ? html`<button class="plain small" @click=${() => { this.all = true; }}>show ${number(labels.length)}</button>` : nothing}` : nothing}</section>`;
  }

  #missing(missing) {
    const rules = missing.map(({verb, resource, name}) => {
      const [plural, ...group] = resource.split('.');
      return `- apiGroups: ["${group.join('.')}"]\n  resources: ["${plural}"]\n  verbs: ["${verb}"]\n${verb !== 'create' || plural.includes('/') ? `  resourceNames: ["${name}"]\n` : ''}`;
    }).join('');
    return html`<section class="card stack"><h2 class="wait">${sign('wait')} You may not write this yet</h2>
      <ul>${missing.map((each) => html`<li>${each.verb} ${each.resource} <span class="mono">${[each.namespace, each.name].filter(Boolean).join('/')}</span></li>`)}</ul>
      <p class="faint small">These rules in a role of yours would allow it:</p><pre>${rules}</pre><p><m-copy label="Copy the rules" .text=${rules}></m-copy></p></section>`;
  }
}
customElements.define('m-outcome', Outcome);
