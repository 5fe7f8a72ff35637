// A button that copies a text, and says that it did. `m-copy-as` is the menu of the same view in other words.
import {LitElement, css, html, nothing} from '../../third_party/lit.js';
import {base} from '../lib/styles.js';

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

class Copy extends LitElement {
  static properties = {text: {}, label: {}, done: {state: true}};
  static styles = [base, css`:host { display: inline-block; }`];

  async #copy() {
    this.done = await copy(this.text) ? 'Copied' : 'Select and copy';
    setTimeout(() => { this.done = ''; }, 1600);
  }

  render() {
    return html`<button @click=${this.#copy}><span aria-live="polite">${this.done || this.label}</span></button>`;
  }
}
customElements.define('m-copy', Copy);

const NAMES = {kubectl: 'kubectl', muster: 'muster', curl: 'curl', link: 'link'};

class CopyAs extends LitElement {
  static properties = {commands: {attribute: false}, open: {state: true}, done: {state: true}};
  static styles = [base, css`
    :host { display: inline-block; position: relative; }
    button.small { color: var(--faint); padding: 3px var(--s2); font: var(--small); }
    [role=menu] { position: absolute; inset-inline-end: 0; top: calc(100% + 4px); z-index: 30; background: var(--raised);
      border: 1px solid var(--line); border-radius: var(--corner); box-shadow: var(--shadow); padding: var(--s1);
      width: min(440px, 86vw); }
    [role=menuitem] { display: grid; grid-template-columns: 64px 1fr; gap: var(--s2); width: 100%; text-align: start;
      border: 0; padding: 6px var(--s2); border-radius: 4px; }
    [role=menuitem] code { font: 12px/16px var(--mono); color: var(--faint); white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
    [role=menuitem]:focus-visible { background: var(--hover); outline-offset: -2px; }
  `];

  constructor() {
    super();
    this.commands = {};
    this.open = false;
    this.addEventListener('focusout', (event) => {
      if (!this.shadowRoot.contains(event.relatedTarget) && event.relatedTarget !== this) this.open = false;
    });
  }

  get #entries() {
    return Object.entries({...this.commands, link: location.href}).filter(([, text]) => text);
  }

  async #toggle() {
    this.open = !this.open;
    await this.updateComplete;
    this.shadowRoot.querySelector('[role=menuitem]')?.focus();
  }

  async #take(name, text) {
    this.done = await copy(text) ? `Copied as ${NAMES[name]}` : 'The browser refuses to copy';
    this.open = false;
    this.shadowRoot.querySelector('button').focus();
    clearTimeout(this.told);
    this.told = setTimeout(() => { this.done = ''; }, 1600);
  }

  #key(event) {
    const items = [...this.shadowRoot.querySelectorAll('[role=menuitem]')];
    const at = items.indexOf(this.shadowRoot.activeElement);
    const move = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1}[event.key];
    if (event.key === 'Escape') {
      this.open = false;
      this.shadowRoot.querySelector('button').focus();
      event.stopPropagation();
    } else if (move !== undefined) {
      items.at(move % items.length).focus();
      event.preventDefault();
    }
  }

  render() {
    return html`<button class="small" aria-haspopup="menu" aria-expanded=${this.open} @click=${this.#toggle}>
        <span aria-live="polite">${this.done || 'copy as'}</span> ▾</button>
      ${this.open ? html`<div role="menu" aria-label="Copy this view as" @keydown=${this.#key}>
        ${this.#entries.map(([name, text]) => html`<button role="menuitem" tabindex="-1" @click=${() => this.#take(name, text)}>
          <span>${NAMES[name]}</span><code>${text.split('\n', 1)[0]}</code></button>`)}</div>` : nothing}`;
  }
}
customElements.define('m-copy-as', CopyAs);
