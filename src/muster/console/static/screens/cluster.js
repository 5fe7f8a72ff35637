// One cluster: its facts on the left; which placements take it and which do not, and why, on the right; what happened to it.
import {css, html, nothing} from '../../third_party/lit.js';
import {ask, get, list} from '../lib/api.js';
import {read, words} from '../lib/commands.js';
import {counted, number} from '../lib/format.js';
import {happened} from '../lib/happened.js';
import {Live} from '../lib/live.js';
import {to} from '../lib/router.js';
import {Screen} from '../lib/screen.js';
import {Task} from '../lib/task.js';
import {causesOf, movesStyles} from '../parts/moves.js';
import {health, sign, signStyles} from '../parts/small.js';

const HISTORIES = 250; // of placements, that are looked through
const SHOWN = 20;

export class Cluster extends Screen {
  static properties = {...Screen.properties, all: {state: true}};
  static styles = [...Screen.styles, signStyles, movesStyles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--s5); }
    .columns { display: grid; grid-template-columns: minmax(280px, 9fr) minmax(320px, 11fr); gap: var(--s6); align-items: start; }
    dl { display: grid; grid-template-columns: minmax(96px, 46%) minmax(0, 1fr); gap: 0 var(--s4); margin: var(--s2) 0 0; }
    dt { color: var(--faint); overflow-wrap: anywhere; } dt small { font: var(--small); display: block; } dt small.rest { display: inline; } dd { margin: 0; overflow-wrap: anywhere; }
    dt, dd { padding: 2px 0; min-height: 24px; } dd a { display: inline-block; min-height: 24px; }
    .verdicts > li { padding: var(--s2) 0; border-top: 1px solid var(--line); display: grid; grid-template-columns: 1.4em 1fr; }
    .verdicts p { grid-column: 2; }
    section > .row { margin-bottom: var(--s2); }
    @media (max-width: 800px) { .columns { grid-template-columns: minmax(0, 1fr); } }
  `];

  #object = new Task(this, (signal) => get('managedclusters', {name: this.params.name}, signal));
  #verdicts = new Task(this, (signal) => ask('ClusterExplanation', {name: this.params.name, limit: 500}, signal));
  #scores = new Task(this, async (signal) => (await get('addonplacementscores', {namespace: this.params.name}, signal)).items);
  #histories = new Task(this, (signal) => list('placementhistories', {limit: HISTORIES, signal}).catch((error) => {
    if ([403, 404].includes(error.code)) return {items: [], more: 0, closed: error.code === 403};
    throw error;
  }));
  #live = new Live(this, ['managedclusters', 'placementdecisions'], () => this.#refresh(), ['placementhistories']);

  get heading() { return this.params.name; }

  get commands() {
    return read('managedclusters', {name: this.params.name}, words('muster', 'explain', 'cluster', this.params.name));
  }

  arrived() {
    this.#object.run();
    this.#verdicts.run();
    this.#scores.run();
    this.#histories.run();
  }

  #refresh() { for (const each of [this.#object, this.#verdicts, this.#scores, this.#histories]) each.refresh(); }

  render() {
    return html`${this.shown(this.#object, (cluster) => this.#head(cluster))}
      <div class="columns">
        <div class="stack">${this.#object.value ? this.#facts(this.#object.value) : nothing}</div>
        <div class="stack">${this.shown(this.#verdicts, (found) => this.#placements(found))}</div>
      </div>
      ${this.#object.value ? html`<section class="card"><h2>What happened to it</h2>${this.shown(this.#histories, (found) => this.#timeline(found))}</section>` : nothing}`;
  }

  #timeline({items, more, closed}) {
    const {events, unknown} = happened(this.#object.value, items);
    const left = [
      closed ? 'Which placements took it when is told to those who may list placementhistories.' : '',
      more ? `Histories of the first ${number(items.length)} placements were looked through.` : '',
      unknown ? `${counted(unknown, 'move')} of many clusters may have been this one's, too: only the first of them are named.` : '',
    ].filter(Boolean);
    return html`<ol class="moves">${events.slice(0, this.all ? events.length : SHOWN).map((each) => html`<li>
        <span class="faint"><m-time .of=${each.time}></m-time></span>
        <div class="stack"><p>${sign(each.sign)} ${each.placement ? this.#move(each) : html`${each.text} ${each.note ? html`<span class="faint">${each.note}</span>` : nothing}`}</p>
          ${each.change ? causesOf(each.change) : nothing}</div></li>`)}</ol>
      ${events.length > SHOWN && !this.all ? html`<p><button class="plain" @click=${() => { this.all = true; }}>Show ${number(events.length - SHOWN)} more</button></p>` : nothing}
      ${left.map((each) => html`<p class="faint small">${each}</p>`)}`;
  }

  #move({placement: {namespace, name}, gained, flip}) {
    return html`<a class="mono" href=${to.placement(namespace, name)}>${namespace}/${name}</a> ${gained ? 'took it' : 'let it go'}
      ${flip ? html`<span class="faint">${flip.stage ? `${flip.stage}: ` : ''}${flip.was} → ${flip.now}</span>` : nothing}`;
  }

  #head(cluster) {
    const state = health(cluster.status?.conditions);
    return html`<div><h1 class="mono">${cluster.metadata.name}</h1>
      <p><span class=${state.sign}>${sign(state.sign)} ${state.word}</span>
        ${state.since ? html`<span class="faint">· changed <m-time .of=${state.since}></m-time></span>` : nothing}
        <span class="faint">· ${cluster.status?.version?.kubernetes ?? 'version unknown'} · added <m-time .of=${cluster.metadata.creationTimestamp}></m-time></span></p></div>`;
  }

  #facts({metadata, spec, status = {}}) {
    const taints = spec?.taints ?? [];
    const capacity = Object.entries(status.capacity ?? {});
    return html`
      ${this.#list('Labels', Object.entries(metadata.labels ?? {}), (key) => to.fleet(`${key}=${JSON.stringify(metadata.labels[key])}`))}
      ${this.#list('Claims', (status.clusterClaims ?? []).map(({name, value}) => [name, value]))}
      ${capacity.length ? html`<section class="card"><h2>Capacity</h2><table><thead><tr><th>resource</th><th class="num">capacity</th><th class="num">allocatable</th></tr></thead>
        <tbody>${capacity.map(([name, amount]) => html`<tr><td>${name}</td><td class="num mono">${amount}</td><td class="num mono">${status.allocatable?.[name] ?? ''}</td></tr>`)}</tbody></table></section>` : nothing}
      ${taints.length ? html`<section class="card"><h2>Taints</h2><dl>${taints.map((each) => html`<dt>${keyOf(each.key)}${each.value ? `=${each.value}` : ''}</dt>
        <dd>${each.effect} ${each.timeAdded ? html`<span class="faint">added <m-time .of=${each.timeAdded}></m-time></span>` : nothing}</dd>`)}</dl></section>` : nothing}
      ${this.#scores.value?.length ? html`<section class="card"><h2>Scores</h2><dl>${this.#scores.value.flatMap((each) => (each.status?.scores ?? []).map((score) => html`
        <dt>${each.metadata.name}/${score.name}</dt><dd class="mono">${score.value}</dd>`))}</dl></section>` : nothing}
      <section class="card"><h2>Conditions</h2><dl>${(status.conditions ?? []).map((each) => html`<dt>${each.type.split(/(?=[A-Z])/).map((word) => html`${word}<wbr>`)}</dt>
        <dd>${each.status} <span class="faint">${each.message} · <m-time .of=${each.lastTransitionTime}></m-time></span></dd>`)}</dl></section>`;
  }

  #list(title, pairs, link) {
    if (!pairs.length) return nothing;
    return html`<section class="card"><h2>${title}</h2><dl>${pairs.map(([key, text]) => html`<dt>${keyOf(key)}</dt>
      <dd class="mono">${link ? html`<a href=${link(key)}>${text}</a>` : text}</dd>`)}</dl></section>`;
  }

  #placements({sets, placements, placementsInAll}) {
    const taken = placements.filter((each) => each.selected);
    // Nearest first: who got further in the funnel failed later.
    const far = ['Pick', 'TaintToleration', 'Predicate', 'ClusterSets'];
    const others = placements.filter((each) => !each.selected)
      .sort((one, other) => far.indexOf(one.stage) - far.indexOf(other.stage));
    return html`
      <section><div class="row"><h2>Placements that take it</h2><span class="faint">${number(taken.length)}</span></div>
        ${taken.length ? html`<ul class="verdicts">${taken.map((each) => this.#verdict(each))}</ul>` : html`<p class="faint">None of ${counted(placementsInAll, 'placement')} that you may explain.</p>`}</section>
      <section><div class="row"><h2>That do not, nearest first</h2><span class="faint">${number(others.length)}</span></div>
        <ul class="verdicts">${others.map((each) => this.#verdict(each))}</ul></section>
      <section><div class="row"><h2>Sets</h2></div><ul class="verdicts">${[...sets].sort((one, other) => other.member - one.member).map((each) => html`<li>${sign(each.member ? 'yes' : 'no')}
        <div class="row"><a href=${to.set(each.name)}>${each.name}</a>${each.namespaces.length ? html`<span class="faint small">bound in ${each.namespaces.join(', ')}</span>` : nothing}</div>
        <p class="faint small">${each.reason}</p></li>`)}</ul></section>`;
  }

  #verdict(each) {
    return html`<li>${sign(each.selected ? 'yes' : 'no')}
      <div class="row"><a class="mono" href=${to.why(each.namespace, each.name, this.params.name)}>${each.namespace}/${each.name}</a>
        ${each.stage ? html`<span class="chip">${each.stage}</span>` : nothing}</div>
      ${each.selected ? nothing : html`<p class="faint small">${each.reason}</p>`}</li>`;
  }
}

/** A key as people read it: its name, and small whose it is. */
function keyOf(key) {
  const [, owner, name, rest] = /^(.+\/)?([^./]+)(\..+)?$/.exec(key) ?? [];
  if (!name || (!owner && !rest)) return key;
  return html`${owner ? html`<small>${owner}</small>` : nothing}${name}${rest ? html`<wbr><small class="rest">${rest}</small>` : nothing}`;
}
customElements.define('m-cluster', Cluster);
