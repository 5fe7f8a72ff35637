// One resolution as a story: what is wanted, what comes of it, where requirements part, and each way out that was tried.
import {css, html, nothing} from '../../third_party/lit.js';
import {ask, get, toYaml} from '../lib/api.js';
import {asked, words} from '../lib/commands.js';
import {counted} from '../lib/format.js';
import {Live} from '../lib/live.js';
import {fixed, parseWant, wantText} from '../lib/resolutions.js';
import {go, to} from '../lib/router.js';
import {Screen} from '../lib/screen.js';
import {Task} from '../lib/task.js';
import {sign, signStyles} from '../parts/small.js';
import '../parts/conflict.js';

const OUTCOMES = {
  resolved: ['yes', 'These operators work together'], impossible: ['error', 'No set of operators meets all of this'], undecided: ['wait', 'Time was up before it was decided'],
  refused: ['error', 'It is refused'], invalid: ['error', 'The resolution cannot be used'],
};

export class ResolutionStory extends Screen {
  static properties = {...Screen.properties, fix: {state: true}};
  static styles = [...Screen.styles, signStyles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s5); align-content: start; }
    .wants { display: flex; gap: var(--s2); flex-wrap: wrap; align-items: center; }
    .want { display: inline-flex; align-items: center; gap: 2px; border: 1px solid var(--line); border-radius: 14px; padding: 1px 4px 1px 12px; background: var(--raised); font: var(--code); }
    .want button { border: 0; background: none; padding: 0; width: 24px; height: 24px; border-radius: 50%; color: var(--faint); }
    form input { width: 190px; font: var(--code); }
    .columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: var(--s5); align-items: start; }
    .story { display: grid; gap: var(--s2); } .story li { display: grid; grid-template-columns: 66px minmax(0, 1fr); gap: var(--s2); }
    .fixes { display: grid; gap: var(--s3); } .fixes > li { display: grid; gap: var(--s2); }
    .fix { text-align: start; justify-self: start; } .fix[aria-expanded=true] { border-color: var(--accent); background: var(--accent-wash); }
    td.why { min-width: 200px; } details summary { cursor: pointer; color: var(--faint); font: var(--small); min-height: 24px; padding: 4px 0; }
    @media (max-width: 980px) { .columns { grid-template-columns: minmax(0, 1fr); } }
  `];

  #object = new Task(this, (signal) => get('resolutions', this.params, signal));
  #answer = new Task(this, async (signal) => {
    const changed = this.#changed;
    return ask('ResolutionPreview', changed ? {namespace: this.params.namespace, resolution: changed} : this.params, signal);
  });
  #live = new Live(this, ['resolutions'], () => this.#refresh());

  get heading() { return `${this.params.namespace}/${this.params.name}`; }

  get commands() {
    const {namespace, name} = this.params;
    const changed = this.#changed;
    return asked('ResolutionPreview', changed ? {namespace, resolution: changed} : {namespace, name}, changed ? '' : words('muster', 'resolve', '--resolution', name, '-n', namespace));
  }

  async arrived() {
    this.fix = undefined;
    if (!this.#object.value || this.#object.value.metadata.name !== this.params.name) await this.#object.run();
    this.#answer.run();
  }

  async #refresh() {
    await this.#object.run();
    this.#answer.refresh();
  }

  /** Wants that were tried in this address, in place of the saved ones. */
  get #tried() { return this.query.getAll('want').map(parseWant).filter(Boolean); }

  get #wants() { return this.#tried.length ? this.#tried : this.#object.value?.spec.wants ?? []; }

  get #changed() {
    const saved = this.#object.value;
    return this.#tried.length && saved ? this.#with({...saved.spec, wants: this.#merged}) : undefined;
  }

  /** A want that is written as a saved one is that one, with all that the text does not say. */
  get #merged() {
    const saved = this.#object.value?.spec.wants ?? [];
    return this.#tried.map((each) => saved.find((one) => wantText(one) === wantText(each)) ?? each);
  }

  #with(spec) {
    const {apiVersion, kind, metadata: {name, namespace}} = this.#object.value;
    return {apiVersion, kind, metadata: {name, namespace}, spec};
  }

  #try(wants) {
    const {namespace, name} = this.params;
    const query = new URLSearchParams(wants.map((each) => ['want', wantText(each)]));
    go(`${to.resolution(namespace, name)}${wants.length ? `?${query}` : ''}`);
  }

  #add(event) {
    event.preventDefault();
    const want = parseWant(new FormData(event.target).get('want'));
    event.target.reset();
    if (want) this.#try([...this.#wants.filter((each) => each.package !== want.package), want]);
  }

  async #plan(spec) { go(to.plan({yaml: await toYaml(this.#with(spec)), how: 'replace'})); }

  render() {
    const {namespace, name} = this.params;
    return html`<div><h1><span class="faint">${namespace}/</span>${name}</h1></div>
      ${this.shown(this.#object, ({spec}) => html`<section class="stack" aria-label="What is wanted"><div class="wants"><span class="faint">wants</span>${this.#wants.map((each) => html`<span class="want">${wantText(each)}
          <button aria-label=${`Without ${wantText(each)}`} ?disabled=${this.#wants.length < 2} @click=${() => this.#try(this.#wants.filter((one) => one !== each))}>×</button></span>`)}
          <form @submit=${this.#add}><input name="want" placeholder="package@range:channel" aria-label="Want one more"></form></div>
        <p class="faint small">from ${(spec.catalogs ?? []).length ? spec.catalogs.map((each) => each.name || each.configMap?.name || 'a catalog').join(', ') : 'the catalogs of the server'}${(spec.facts ?? []).map(({type, value}) => ` · ${type} ${typeof value === 'string' ? value : JSON.stringify(value)}`).join('')}${spec.installed?.length ? ` · ${counted(spec.installed.length, 'operator')} installed` : ''}</p>
        ${this.#tried.length ? html`<p class="row"><span class="wait">${sign('wait')} Tried, not saved.</span> <button class="plain" @click=${() => this.#plan(this.#changed.spec)}>Plan this change</button> <button class="plain" @click=${() => this.#try([])}>Back to what is saved</button></p>` : nothing}</section>`)}
      ${this.shown(this.#answer, (found) => this.#story(found))}`;
  }

  #story(found) {
    const [kind, told] = OUTCOMES[found.outcome] ?? ['wait', found.outcome];
    return html`<div class="stack ${this.#answer.pending && this.#answer.slow ? 'stale' : ''}"><div role="status"><h2 class=${kind}>${sign(kind)} ${told}</h2></div>
      ${(found.diagnostics ?? []).map((each) => html`<p class="error small">${each.field} ${each.message}</p>`)}
      ${found.plan?.length ? html`<section class="card"><h2 class="sr">Plan</h2>${this.#steps(found.plan)}</section>` : nothing}
      ${found.conflict ? html`<section class="card stack"><h2>Where they part</h2><m-conflict .conflict=${found.conflict}></m-conflict></section>` : nothing}
      ${found.facts?.length || found.fixes?.length ? html`<div class="columns">
        ${found.facts?.length ? html`<section class="card stack"><h2>Why</h2><ol class="story">${found.facts.map((each, at) => html`<li><span class="faint">${at ? 'and' : 'Because'}</span><div>${each.text}${(each.details ?? []).map((one) => html`<br><span class="faint small">${one}</span>`)}</div></li>`)}</ol></section>` : nothing}
        ${found.fixes?.length ? html`<section class="card stack"><h2>Ways out, each tried</h2><ul class="fixes">${found.fixes.map((each, at) => this.#fix(each, at))}</ul></section>` : nothing}</div>` : nothing}
      ${found.notes?.length ? html`<section class="card stack"><h2>Notes</h2><ul class="small">${found.notes.map((each) => html`<li>${each}</li>`)}</ul></section>` : nothing}
      ${[...(found.faults ?? []), ...(found.catalogFaults ?? [])].length ? html`<section class="card stack"><h2 class="wait">${sign('wait')} What could not be used</h2><ul class="small">${[...(found.faults ?? []), ...(found.catalogFaults ?? [])].map((each) => html`<li>${each}</li>`)}</ul></section>` : nothing}
    </div>`;
  }

  #fix(each, at) {
    const open = this.fix === at;
    const spec = fixed({...this.#object.value?.spec, wants: this.#tried.length ? this.#merged : this.#object.value?.spec.wants ?? []}, each.reason);
    return html`<li><button class="fix" aria-expanded=${open} @click=${() => { this.fix = open ? undefined : at; }}><span class="yes">${sign('yes')}</span> ${each.text} <span class="faint small">${counted(each.plan.length, 'operator')}</span></button>
      ${open ? html`${this.#steps(each.plan)}${spec ? html`<p><button class="primary" @click=${() => this.#plan(spec)}>Plan this change</button></p>` : nothing}` : nothing}</li>`;
  }

  #steps(plan) {
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Operators of the plan"><table><thead><tr><th>operator</th><th>version</th><th>channel</th><th>why it is there</th></tr></thead><tbody>${plan.map((each) => html`<tr>
      <td><b>${each.package || each.name}</b> <span class="faint small">${each.action}${each.replaces ? `, replaces ${each.replaces}` : ''}</span></td><td class="mono">${each.version}</td><td>${each.channel ?? ''}</td>
      <td class="why">${(each.askedBy ?? []).join('; ')}${each.passedOver?.length ? html`<details><summary>${counted(each.passedOver.length, 'version')} passed over</summary><ul class="small">${each.passedOver.map((one) => html`<li><span class="mono">${one.version || one.name}</span> ${one.why}</li>`)}</ul></details>` : nothing}</td></tr>`)}</tbody></table></div>`;
  }
}
customElements.define('m-resolution', ResolutionStory);
