// Small parts: a time that people read, a verdict with its sign, a condition, labels.
import {LitElement, css, html, nothing} from '../../third_party/lit.js';
import {ago, exact, local} from '../lib/format.js';
import {base} from '../lib/styles.js';

class Time extends LitElement {
  static properties = {of: {}, utc: {state: true}};
  static styles = [base, css`:host { display: inline; color: inherit; font: inherit; } time { white-space: nowrap; }`];

  #timer;
  connectedCallback() {
    super.connectedCallback();
    this.#timer = setInterval(() => this.requestUpdate(), 30_000);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.#timer);
  }

  render() {
    return this.of ? html`<time datetime=${this.of} title=${`${local(this.of)}\n${exact(this.of)}`}>${ago(this.of)}</time>` : nothing;
  }
}
customElements.define('m-time', Time);

const SIGNS = {yes: '✓', no: '–', wait: '‖', error: '✕', open: '·'};
const WORDS = {yes: 'yes', no: 'no', wait: 'held', error: 'fault', open: 'not reached'};

/** A sign never stands for itself: its word is there for who cannot see it. */
export const sign = (kind) => html`<span class="sign ${kind}" aria-hidden="true">${SIGNS[kind]}</span><span class="sr">${WORDS[kind]}:</span>`;
export const signStyles = css`.sign { display: inline-block; width: 1.1em; text-align: center; }`;

const SHORT = {'cluster.open-cluster-management.io/clusterset': 'clusterset'};
const QUIET = /^(feature\.open-cluster-management\.io\/|velero\.io\/|cluster\.open-cluster-management\.io\/clusterset$)/;

/** Labels as people know them, those that every cluster has left out. */
export const isTelling = (key) => !QUIET.test(key);
export const tellingLabels = (labels) => Object.entries(labels ?? {}).filter(([key]) => isTelling(key));
export const shortKey = (key) => SHORT[key] ?? key;

/** How a cluster is, from its conditions. */
export function health(conditions) {
  const found = Object.fromEntries((conditions ?? []).map((each) => [each.type, each]));
  const accepted = found.HubAcceptedManagedCluster;
  const available = found.ManagedClusterConditionAvailable;
  const joined = found.ManagedClusterJoined;
  if (accepted && accepted.status !== 'True') return {sign: 'wait', word: 'not accepted', since: accepted.lastTransitionTime};
  if (joined && joined.status !== 'True') return {sign: 'wait', word: 'not joined', since: joined.lastTransitionTime};
  if (!available) return {sign: 'wait', word: 'not known yet'};
  if (available.status === 'True') return {sign: 'yes', word: 'available', since: available.lastTransitionTime};
  const word = available.status === 'Unknown' ? 'unreachable' : 'unavailable';
  return {sign: 'error', word, since: available.lastTransitionTime, message: available.message};
}
