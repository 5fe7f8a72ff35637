// A table of any length: rows are fetched in pages as they scroll into sight, and forgotten again.
import {LitElement, css, html, nothing, repeat} from '../../third_party/lit.js';
import {number} from '../lib/format.js';
import {base} from '../lib/styles.js';
import {signStyles} from './small.js';

export const PAGE = 50; // rows that are fetched at once
const KEPT = 24; // pages
const AHEAD = 8; // rows drawn beyond what is seen

class Rows extends LitElement {
  static properties = {
    columns: {attribute: false}, // [{title, width, cell(row), sort, isNumber}]
    count: {type: Number}, // rows in all
    fetcher: {attribute: false}, // (offset, limit, signal) => rows; another one is another question
    first: {attribute: false}, // the first rows, which came with the counts; new ones mean that rows may have changed
    sort: {}, descending: {type: Boolean}, label: {},
    active: {state: true}, failure: {state: true},
  };
  static styles = [base, signStyles, css`
    :host { display: flex; flex-direction: column; min-height: 0; border: 1px solid var(--line); border-radius: var(--corner);
      background: var(--raised); overflow: hidden; }
    .viewport { overflow: auto; flex: 1; min-height: 0; position: relative; }
    .viewport:focus-visible { outline-offset: -2px; }
    .head { position: sticky; top: 0; z-index: 2; background: var(--raised); border-bottom: 1px solid var(--line); }
    [role=row] { display: grid; grid-template-columns: var(--columns); align-items: center; min-width: var(--least); }
    .body { position: relative; }
    .body [role=row] { position: absolute; inset-inline: 0; height: 34px; border-bottom: 1px solid var(--line); cursor: pointer; }
    .body [role=row]:hover { background: var(--hover); }
    .body [role=row][aria-selected=true] { background: var(--accent-wash); box-shadow: inset 2px 0 var(--accent); }
    [role=gridcell], [role=columnheader] { padding: 0 var(--s3); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    [role=columnheader] { font: var(--small); color: var(--faint); height: 30px; line-height: 30px; }
    [role=columnheader] button { border: 0; background: none; padding: 0; color: inherit; }
    a { color: var(--ink); }
    .bone { display: block; height: 8px; border-radius: 3px; background: var(--line); width: 55%; }
  `];

  #pages = new Map(); // number → rows, or an AbortController while they come
  #first = 0; #last = 30; #generation = 0; #resize;

  constructor() {
    super();
    Object.assign(this, {columns: [], count: 0, active: -1, label: 'rows'});
  }

  firstUpdated() {
    this.#resize = new ResizeObserver(() => this.#measure());
    this.#resize.observe(this.shadowRoot.querySelector('.viewport'));
    this.#measure();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#resize?.disconnect();
    for (const each of this.#pages.values()) if (each instanceof AbortController) each.abort();
  }

  willUpdate(changed) {
    if (changed.has('fetcher')) {
      this.#generation += 1;
      for (const each of this.#pages.values()) if (each instanceof AbortController) each.abort();
      this.#pages.clear();
      this.active = -1;
      const view = this.shadowRoot?.querySelector('.viewport');
      if (view) view.scrollTop = 0;
    }
    if (changed.has('first') && this.first) this.#pages.set(0, this.first);
    if (changed.has('columns')) {
      this.style.setProperty('--columns', this.columns.map((each) => each.width).join(' '));
      this.style.setProperty('--least', `${this.columns.reduce((sum, each) => sum + (each.least ?? 80), 0)}px`);
    }
  }

  /** Rows may have changed: what is in sight is fetched again, and stays until it comes. */
  refresh() {
    const from = Math.floor(this.#first / PAGE);
    const to = Math.floor(Math.min(this.#last, this.count - 1) / PAGE);
    for (const page of this.#pages.keys()) if (page && (page < from || page > to)) this.#pages.delete(page);
    for (let page = Math.max(1, from); page <= to; page += 1) this.#fetch(page, true);
  }

  #measure() {
    const view = this.shadowRoot.querySelector('.viewport');
    const first = Math.max(0, Math.floor((view.scrollTop - 30) / 34) - AHEAD);
    const last = Math.ceil((view.scrollTop + view.clientHeight) / 34) + AHEAD;
    if (first !== this.#first || last !== this.#last) {
      this.#first = first;
      this.#last = last;
      this.requestUpdate();
    }
  }

  updated(changed) {
    if (changed.has('first') && !changed.has('fetcher')) this.refresh();
    const until = Math.min(this.#last, this.count - 1);
    for (let page = Math.floor(this.#first / PAGE); page <= Math.floor(until / PAGE); page += 1) this.#fetch(page, false);
    if (this.#pages.size > KEPT) {
      const middle = Math.floor(this.#first / PAGE);
      const far = [...this.#pages.keys()].sort((one, other) => Math.abs(other - middle) - Math.abs(one - middle));
      for (const page of far.slice(0, this.#pages.size - KEPT)) this.#pages.delete(page);
    }
  }

  async #fetch(page, again) {
    const before = this.#pages.get(page);
    if (before instanceof AbortController || (before && !again) || !this.fetcher) return;
    const controller = new AbortController();
    const generation = this.#generation;
    if (!before) this.#pages.set(page, controller);
    try {
      const rows = await this.fetcher(page * PAGE, PAGE, controller.signal);
      if (generation !== this.#generation) return;
      this.#pages.set(page, rows);
      this.failure = undefined;
    } catch (error) {
      if (generation !== this.#generation || error.name === 'AbortError') return;
      if (!before) this.#pages.set(page, []);
      this.failure = error;
    }
    this.requestUpdate();
  }

  #row(index) {
    const page = this.#pages.get(Math.floor(index / PAGE));
    return Array.isArray(page) ? page[index % PAGE] : undefined;
  }

  #key(event) {
    const view = this.shadowRoot.querySelector('.viewport');
    const page = Math.max(1, Math.floor(view.clientHeight / 34) - 1);
    const move = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.count, End: this.count}[event.key];
    if (move !== undefined) {
      this.active = Math.min(this.count - 1, Math.max(0, this.active + move));
      const top = this.active * 34;
      if (top < view.scrollTop) view.scrollTop = top;
      else if (top + 34 + 30 > view.scrollTop + view.clientHeight) view.scrollTop = top + 34 + 30 - view.clientHeight;
      event.preventDefault();
    } else if (event.key === 'Enter' && this.active >= 0) this.#open(this.active);
  }

  #open(index) {
    const row = this.#row(index);
    if (row) this.dispatchEvent(new CustomEvent('open', {detail: row}));
  }

  #header(column) {
    if (!column.sort) return column.title;
    const on = this.sort === column.sort;
    return html`<button @click=${() => this.dispatchEvent(new CustomEvent('sort', {detail: column.sort}))}>
      ${column.title}${on ? (this.descending ? ' ↓' : ' ↑') : ''}</button>`;
  }

  render() {
    const until = Math.min(this.#last, this.count - 1);
    const indices = [];
    for (let index = Math.min(this.#first, Math.max(0, this.count - 1)); index <= until; index += 1) indices.push(index);
    return html`<div class="viewport" role="grid" tabindex="0" aria-label=${this.label} aria-rowcount=${this.count + 1}
        aria-activedescendant=${this.active >= 0 && indices.includes(this.active) ? `row-${this.active}` : nothing}
        @scroll=${this.#measure} @keydown=${this.#key}>
      <div class="head" role="rowgroup"><div role="row" aria-rowindex="1">
        ${this.columns.map((each) => html`<div role="columnheader" class=${each.isNumber ? 'num' : nothing}
          aria-sort=${each.sort && this.sort === each.sort ? (this.descending ? 'descending' : 'ascending') : nothing}>${this.#header(each)}</div>`)}
      </div></div>
      <div class="body" role="rowgroup" .style=${`height:${this.count * 34}px`}>
        ${repeat(indices, (index) => index, (index) => {
          const row = this.#row(index);
          return html`<div role="row" id=${`row-${index}`} aria-rowindex=${index + 2} aria-selected=${index === this.active}
              .style=${`top:${index * 34}px`} @click=${(event) => this.#click(event, index)}>
            ${this.columns.map((each) => html`<div role="gridcell" class=${each.isNumber ? 'num' : nothing}>${row ? each.cell(row) : html`<span class="bone"></span>`}</div>`)}
          </div>`;
        })}
      </div></div>
      ${this.failure ? html`<m-state brief .failure=${this.failure} .at=${Date.now()} @retry=${this.refresh}></m-state>` : nothing}
      <div class="sr" role="status">${number(this.count)} rows</div>`;
  }

  #click(event, index) {
    this.active = index;
    if (event.target.closest('a')) return;
    this.#open(index);
  }
}
customElements.define('m-rows', Rows);
