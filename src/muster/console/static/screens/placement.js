// One placement: decisions by rank, the funnel, conditions in words, what moved it, and the way back.
import {css, html, nothing} from '../../third_party/lit.js';
import {ask, get, rule, toYaml} from '../lib/api.js';
import {asked, words} from '../lib/commands.js';
import {counted, number, share} from '../lib/format.js';
import {Live} from '../lib/live.js';
import {go, to} from '../lib/router.js';
import {Screen} from '../lib/screen.js';
import {Task} from '../lib/task.js';
import {approve, heldRemovals} from '../lib/writing.js';
import {causesOf, movesStyles, namesOf} from '../parts/moves.js';
import {sign, signStyles} from '../parts/small.js';

const SHOWN = 50;
const BELOW = 8; // clusters shown below the cut
const SHADES = 5;
const GUARDS = {
  'max-removals': 'At most so many removals', 'removal-window': 'within', 'min-clusters': 'Clusters that must be left', 'quiet-time': 'Unwanted for',
  'removal-hours': 'Removals only', 'freeze-removals': 'Removals frozen',
};
export class Placement extends Screen {
  static properties = {...Screen.properties, all: {state: true}, refused: {state: true}};
  static styles = [...Screen.styles, signStyles, movesStyles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s5); }
    .columns { display: grid; grid-template-columns: minmax(0, 3fr) minmax(280px, 2fr); gap: var(--s6); align-items: start; }
    .ranks { display: grid; grid-template-columns: max-content minmax(150px, auto) minmax(80px, 1fr) auto; gap: 0 var(--s3); align-items: center; }
    .ranks > * { padding: 3px 0; min-height: 26px; }
    .cut { grid-column: 1 / -1; display: flex; gap: var(--s3); align-items: center; color: var(--faint); font: var(--small); padding: var(--s1) 0; }
    .cut::after { content: ''; flex: 1; border-top: 1px dashed var(--faint); }
    .segments { display: flex; height: 8px; padding: 0; min-height: 8px; position: relative; }
    .segments::before { content: ''; position: absolute; inset-block: -9px; inset-inline-start: var(--zero); border-inline-start: 1px solid var(--line); }
    .segments > span { display: flex; gap: 1px; } .segments .infavour { flex: 1; } .segments .against { justify-content: flex-end; flex: none; }
    .segments i { display: block; border-radius: 2px; } .against i { opacity: .6; }
    .s0 { background: var(--accent); } .s1 { background: var(--bar-yes); } .s2 { background: var(--wait); } .s3 { background: var(--bar-no); } .s4 { background: var(--faint); }
    a.below { color: var(--faint); }
    .legend { display: flex; gap: var(--s4); flex-wrap: wrap; } .legend i { display: inline-block; width: 8px; height: 8px; border-radius: 2px; margin-inline-end: 5px; }
    .stage { display: grid; grid-template-columns: 130px minmax(0, 1fr) 110px; gap: var(--s3); align-items: center; padding: 3px 0; }
    .stage .bar { height: 10px; }
    .why { margin: 0 0 var(--s2) 0; color: var(--faint); font: var(--small); display: grid; gap: 2px; }
    .why a.mono { font: 12px/16px var(--mono); }
    .why li { display: flex; gap: var(--s2); flex-wrap: wrap; }
    .groups { display: grid; gap: var(--s1); }
    .strips { display: grid; grid-template-columns: auto 1fr auto; gap: 3px var(--s3); align-items: center; }
    .dots { display: flex; gap: 3px; flex-wrap: wrap; } .dots i { width: 10px; height: 10px; border-radius: 2px; background: var(--bar-yes); }
    dl { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: var(--s1) var(--s4); margin: 0; } dt { color: var(--faint); } dd { margin: 0; }
    .held { border-inline-start: 3px solid var(--wait); }
    pre { max-height: 46vh; overflow: auto; }
    @media (max-width: 900px) { .columns { grid-template-columns: minmax(0, 1fr); } .stage { grid-template-columns: 100px 1fr 84px; } }
  `];

  #report = new Task(this, (signal) => ask('PlacementExplanation', {namespace: this.params.namespace, name: this.params.name, limit: SHOWN}, signal));
  #object = new Task(this, async (signal) => {
    const found = await get('placements', this.params, signal);
    const yaml = await toYaml({apiVersion: found.apiVersion, kind: found.kind, metadata: {name: found.metadata.name, namespace: found.metadata.namespace}, spec: found.spec}, signal);
    return {found, yaml, spread: await this.#spread(found, signal)};
  });
  #history = new Task(this, (signal) => get('placementhistories', this.params, signal).catch((error) => {
    if (error.code === 404) return {changes: [], revisions: []};
    throw error;
  }));
  #held = new Task(this, (signal) => heldRemovals(this.params, signal));
  #live = new Live(this, ['placements', 'placementdecisions'], () => this.#refresh(), ['placementhistories', 'placementguardrecords']);

  get heading() { return `${this.params.namespace}/${this.params.name}`; }

  get commands() {
    const {namespace, name} = this.params;
    return asked('PlacementExplanation', {namespace, name}, words('muster', 'explain', 'placement', name, '-n', namespace));
  }

  arrived() {
    this.#report.run();
    this.#object.run();
    this.#history.run();
    this.#held.run();
  }

  #refresh() { for (const each of [this.#report, this.#object, this.#history, this.#held]) each.refresh(); }

  /** How the decided clusters spread over a topology: one count for each value. */
  async #spread(placement, signal) {
    const constraint = placement.spec.spreadPolicy?.spreadConstraints?.[0];
    if (!constraint) return undefined;
    const {topologyKey: key, topologyKeyType: type = 'Label'} = constraint;
    const text = JSON.stringify(key);
    const distinct = type === 'Claim' ? `managedCluster.status.?clusterClaims.orValue([]).filter(c, c.name == ${text})[0].value`
      : `managedCluster.metadata.?labels[?${text}].orValue("")`;
    const found = await ask('FleetEvaluation', {placement, distinct, mostValues: 40, rows: {limit: 0}}, signal);
    return {key, values: found.values};
  }

  render() {
    const {namespace, name} = this.params;
    return html`<div><h1><span class="faint">${namespace}/</span>${name}</h1>${this.#report.value ? this.#summary(this.#report.value) : nothing}</div>
      ${this.shown(this.#report, (report) => html`
      <div class="columns">
        <div class="stack"><section class="card stack"><div class="spread"><h2>Decisions</h2>${this.#legend(report)}</div>${this.#ranks(report)}</section>
          <section class="card stack"><h2>From the fleet to the decision</h2><div>${report.funnel.map((stage) => this.#stage(stage, report.fleet))}</div></section></div>
        <div class="stack">${this.#waiting()}${this.#conditions(report)}${this.#guards()}${this.#groups(report)}${this.#strips()}${this.#spec()}</div>
      </div>
      <section class="card"><h2>What moved it</h2>${this.shown(this.#history, (history) => this.#moves(history))}</section>`)}`;
  }

  #summary(report) {
    const wanted = report.wanted === undefined ? '' : ` of ${number(report.wanted)} wanted`;
    return html`<p><b>${counted(report.selected, 'cluster')}</b>${wanted} <span class="faint">from ${number(report.fleet)} in the fleet${report.hidden ? `, ${number(report.hidden)} you may not see` : ''}</span>
      ${report.notes.map((each) => html`<br><span class="wait">${sign('wait')} ${each}</span>`)}</p>`;
  }

  #legend({scores}) {
    if (scores.scorers.length < 1) return nothing;
    return html`<span class="legend small faint">${scores.scorers.map((each, at) => html`<span><i class=${`s${at % SHADES}`}></i>${each.name}${each.weight === 1 ? '' : ` × ${each.weight}`}</span>`)}</span>`;
  }

  #ranks({scores, nearMisses}) {
    if (!scores.clusters.length) return html`<p class="faint">No cluster passes every filter. The funnel below says where they stay.</p>`;
    // Bars grow from a common zero: what speaks against a cluster to the left of it, what speaks for it to the right.
    const weighted = scores.clusters.map((each) => each.scores.map((score, at) => score * scores.scorers[at].weight));
    const most = (keep) => Math.max(0, ...weighted.map((each) => each.reduce((sum, score) => sum + (keep(score) ? Math.abs(score) : 0), 0)));
    const [against, infavour] = [most((score) => score < 0), most((score) => score > 0)];
    const whole = against + infavour || 1;
    const last = scores.clusters.findLastIndex((each) => each.selected);
    const ranked = scores.clusters.slice(0, this.all ? SHOWN : last + 1 + BELOW);
    const {namespace, name} = this.params;
    return html`<div class="ranks">${ranked.map((each, at) => html`
        <span class="num faint">${each.rank}</span>
        <a class="mono ${each.selected ? '' : 'below'}" href=${to.why(namespace, name, each.cluster)}>${sign(each.selected ? 'yes' : 'no')} ${each.cluster}</a>
        <span class="segments" aria-hidden="true" .style=${`--zero:${share(against, whole)}%`}>
          <span class="against" .style=${`width:${share(against, whole)}%`}>${this.#segments(scores, weighted[at], against, (score) => score < 0)}</span>
          <span class="infavour">${this.#segments(scores, weighted[at], infavour, (score) => score > 0)}</span></span>
        <span class="num mono">${number(each.total)}</span>
        ${at === last && scores.count > last + 1 ? html`<span class="cut">cut: ${counted(scores.count - last - 1, 'cluster')} below</span>` : nothing}`)}</div>
      ${scores.count > ranked.length ? html`<p class="faint small">${number(scores.count - ranked.length)} more
        ${scores.clusters.length > ranked.length ? html`<button class="plain" @click=${() => { this.all = true; }}>Show ${scores.clusters.length}</button>` : nothing}</p>` : nothing}
      ${nearMisses.some((each) => each.stage !== 'Pick') ? html`<h3>Near misses</h3><ul class="why">${nearMisses.filter((each) => each.stage !== 'Pick').map((each) => html`
        <li><a class="mono" href=${to.why(namespace, name, each.cluster)}>${each.cluster}</a> ${each.reason}</li>`)}</ul>` : nothing}`;
  }

  #segments({scorers}, weighted, whole, keep) {
    return weighted.map((score, at) => (keep(score) ? html`<i class=${`s${at % SHADES}`} .style=${`width:${share(Math.abs(score), whole)}%`} title=${`${scorers[at].name}: ${score}`}></i>` : nothing));
  }

  #stage(stage, fleet) {
    const {namespace, name} = this.params;
    return html`<div class="stage"><span>${stage.name}</span><span class="bar yes" .style=${`width:${share(stage.after, fleet)}%`}></span>
        <span class="num">${number(stage.before)} → <b>${number(stage.after)}</b></span></div>
      ${stage.reasons.length ? html`<ul class="why">${stage.reasons.map((each) => html`<li><a class="num" href=${to.playground({placement: `${namespace}/${name}`, show: 'Unmatched'})} title="Show the clusters that it does not take">${number(each.count)}</a> ${each.reason}
        ${each.values.length ? html`<span>(${each.values.map((one) => `${one.value} ${number(one.count)}`).join(', ')})</span>` : nothing}
        ${each.examples.slice(0, 1).map((one) => html`<span>such as <a class="mono" href=${to.why(namespace, name, one)}>${one}</a></span>`)}</li>`)}
        ${stage.otherReasons ? html`<li>${number(stage.otherCount)} for ${counted(stage.otherReasons, 'other reason')}</li>` : nothing}</ul>` : nothing}`;
  }

  #conditions({conditions, failures}) {
    const good = {PlacementMisconfigured: 'False', PlacementSatisfied: 'True', RemovalsHeld: 'False'};
    // Who may not read the record of guards is told by the condition.
    const held = this.#held.value?.held ? [] : (this.#object.value?.found.status?.conditions ?? []).filter((each) => each.type === 'RemovalsHeld' && each.status === 'True');
    return html`<section class="card stack"><h2>State</h2><ul>${[...conditions, ...held].map((each) => {
      const kind = (good[each.type] ?? 'True') === each.status ? 'yes' : each.type === 'PlacementMisconfigured' ? 'error' : 'wait';
      return html`<li><span class=${kind}>${sign(kind)}</span> ${each.message} <span class="faint small">${each.type}: ${each.status}</span></li>`;
    })}${failures.count ? html`<li class="error">${sign('error')} An expression fails on ${counted(failures.count, 'cluster')}: ${failures.reasons.join('; ')}</li>` : nothing}</ul></section>`;
  }

  /** What its own annotations ask before clusters go, in the words of the guide. */
  #guards() {
    const given = this.#object.value?.found.metadata.annotations ?? {};
    const set = Object.entries(GUARDS).filter(([name]) => given[`placement.muster.dev/${name}`] !== undefined);
    if (!set.length) return nothing;
    const held = this.#held.value?.held;
    return html`<section class="card stack"><h2>Guards</h2><dl>${set.map(([name, says]) => html`<dt>${says}</dt><dd class="mono">${given[`placement.muster.dev/${name}`]}</dd>`)}</dl>
      <p class=${held ? 'wait' : 'faint'}>${held ? html`${sign('wait')} ${counted(held.count, 'removal')} held` : 'Nothing is held.'}</p></section>`;
  }

  #groups({decisions}) {
    if (decisions.length < 2) return nothing;
    return html`<section class="card stack"><h2>Groups</h2><table><thead><tr><th>group</th><th class="num">clusters</th></tr></thead><tbody>
      ${decisions.map((each) => html`<tr><td>${each.groupName || each.name}</td><td class="num">${number(each.clusters.count)}</td></tr>`)}</tbody></table></section>`;
  }

  #strips() {
    const spread = this.#object.value?.spread;
    if (!spread?.values?.length) return nothing;
    return html`<section class="card stack"><h2>Spread over ${spread.key}</h2><div class="strips">${spread.values.map((each) => html`
      <span class="mono">${each.value || '(none)'}</span><span class="dots" aria-hidden="true">${Array.from({length: Math.min(each.count, 40)}, () => html`<i></i>`)}</span>
      <span class="num">${number(each.count)}</span>`)}</div></section>`;
  }

  #spec() {
    const {yaml} = this.#object.value ?? {};
    if (!yaml) return nothing;
    return html`<section class="card stack"><div class="spread"><h2>Spec</h2><span class="row"><a href=${`/plan?placement=${encodeURIComponent(`${this.params.namespace}/${this.params.name}`)}`}>Edit and plan</a> <a href=${to.playground({placement: `${this.params.namespace}/${this.params.name}`})}>Try in the playground</a></span></div>
      <pre tabindex="0" aria-label="The placement as YAML">${yaml}</pre></section>`;
  }

  #moves({changes = [], revisions = []}) {
    if (!changes.length) return html`<p class="faint">Its decisions have not moved since the first.</p>`;
    const present = revisions.at(-1)?.revision;
    const offered = new Set([present]); // one button for each spec, at the last change under it
    return html`<ol class="moves">${[...changes].reverse().map((each) => {
      const revision = revisions.find((one) => one.revision === each.generation);
      const isNew = revision && !offered.has(revision.revision) && offered.add(revision.revision);
      return html`<li><span class="faint"><m-time .of=${each.time}></m-time></span>
        <div class="stack"><p><b>${number(each.before)} → ${number(each.after)}</b> ${namesOf('yes', '+', each.gained)} ${namesOf('error', '−', each.lost)}</p>
          ${causesOf(each)}</div>
        ${isNew ? html`<button @click=${() => this.#undo(revision)}>Undo to here</button>` : html`<span class="faint small">${revision?.revision === present ? 'present spec' : ''}</span>`}</li>`;
    })}</ol>`;
  }

  /** An earlier spec, with everything else as it is: a plan says what that would move before it is written. */
  async #undo(revision) {
    const {apiVersion, kind, metadata: {name, namespace, labels, annotations}} = this.#object.value.found;
    const metadata = {name, namespace, ...(labels ? {labels} : {}), ...(annotations ? {annotations} : {})};
    go(to.plan({yaml: await toYaml({apiVersion, kind, metadata, spec: revision.spec}), how: 'replace'}));
  }

  /** Removals that guards hold: what waits, why, and the button for who may. */
  #waiting() {
    const {held, missing = []} = this.#held.value ?? {};
    if (!held) return nothing;
    const {clusters = [], count, message, digest, since} = held;
    return html`<section class="card stack held"><h2 class="wait">${sign('wait')} ${counted(count, 'removal')} held</h2>
      <p>${message}</p><ul class="mono small">${clusters.slice(0, 8).map((each) => html`<li><a href=${to.why(this.params.namespace, this.params.name, each)}>${each}</a></li>`)}${count > 8 ? html`<li class="faint">and ${number(count - 8)} more</li>` : nothing}</ul>
      <p class="faint small">change <span class="mono">${digest}</span>${since ? html`, held <m-time .of=${since}></m-time>` : nothing}</p>
      ${this.refused ? html`<m-state .failure=${this.refused}></m-state>` : nothing}
      <p><button ?disabled=${missing.length > 0} @click=${() => this.#approve(digest)}>Approve, remove ${counted(count, 'cluster')}</button></p>
      ${missing.length ? this.#lacking(missing) : nothing}</section>`;
  }

  #lacking(verbs) {
    const text = rule('cluster.open-cluster-management.io', 'placements', ...verbs);
    return html`<div class="stack"><p class="small">You may not ${verbs.join(' and ')} placements in ${this.params.namespace}. This rule in a role of yours would allow it:</p>
      <pre class="small">${text}</pre><p><m-copy label="Copy the rule" .text=${text}></m-copy></p></div>`;
  }

  async #approve(digest) {
    this.refused = await approve(this.params, digest).then(() => undefined, (error) => error);
    this.#refresh();
  }
}
customElements.define('m-placement', Placement);
