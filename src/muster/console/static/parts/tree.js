// An object as a tree that folds. A click on a value tells its path, as jq writes it.
import {LitElement, css, html, nothing} from '../../third_party/lit.js';
import {number, value as written} from '../lib/format.js';
import {base} from '../lib/styles.js';

const FEW = 40; // entries of an array or object that are drawn before "more"
const PLAIN = /^[A-Za-z_]\w*$/;

const step = (path, key) => {
  if (typeof key === 'number') return `${path || '.'}[${key}]`;
  return PLAIN.test(key) ? `${path}.${key}` : `${path || '.'}[${JSON.stringify(key)}]`;
};

class Tree extends LitElement {
  static properties = {value: {attribute: false}, all: {state: true}};
  static styles = [base, css`
    :host { font: 12px/20px var(--mono); overflow-wrap: anywhere; }
    details { padding-inline-start: var(--s4); } :host > details, .root { padding: 0; }
    summary { cursor: pointer; margin-inline-start: calc(-1 * var(--s4)); min-height: 24px; padding: 2px 0; }
    summary::marker { color: var(--faint); }
    .leaf { display: grid; grid-template-columns: minmax(0, 136px) minmax(0, 1fr); gap: var(--s3); justify-content: start; }
    .leaf span { padding: 2px 0; }
    button { border: 0; background: none; padding: 2px 4px; margin-inline-start: -4px; font: inherit; text-align: start; color: var(--accent); min-height: 24px; border-radius: 3px; overflow-wrap: anywhere; }
    button:hover { background: var(--accent-wash); }
  `];

  render() { return html`<div class="root">${this.#entries(this.value, '', 0)}</div>`; }

  #entries(value, path, depth) {
    const entries = Array.isArray(value) ? value.map((each, at) => [at, each]) : Object.entries(value ?? {});
    const few = this.all ? entries : entries.slice(0, FEW);
    return html`${few.map(([key, each]) => this.#entry(key, each, step(path, key), depth))}
      ${entries.length > few.length ? html`<button @click=${() => { this.all = true; }}>${number(entries.length - few.length)} more</button>` : nothing}`;
  }

  #entry(key, value, path, depth) {
    if (value === null || typeof value !== 'object') {
      return html`<div class="leaf"><span class="faint">${key}</span><button title=${path} aria-label=${`Use ${path}`} @click=${() => this.#pick(path, value)}>${written(value)}</button></div>`;
    }
    const size = Array.isArray(value) ? value.length : Object.keys(value).length;
    if (!size) return html`<div class="leaf"><span class="faint">${key}</span><span class="faint">${Array.isArray(value) ? '[]' : '{}'}</span></div>`;
    // Lists of plain values fit on a line, and are taken as a whole.
    if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) {
      return html`<div class="leaf"><span class="faint">${key}</span><button title=${path} aria-label=${`Use ${path}`} @click=${() => this.#pick(path, value)}>${value.map(written).join(' ')}</button></div>`;
    }
    return html`<details ?open=${depth < 1 && size <= 12}><summary>${key} <span class="faint">${Array.isArray(value) ? `[${size}]` : `{${size}}`}</span></summary>${this.#entries(value, path, depth + 1)}</details>`;
  }

  #pick(path, value) { this.dispatchEvent(new CustomEvent('pick', {detail: {path, value}})); }
}
customElements.define('m-tree', Tree);
