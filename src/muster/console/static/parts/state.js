// What stands in the place of an answer: slow, refused, not permitted, unreachable. Never a dead end.
import {LitElement, css, html, nothing} from '../../third_party/lit.js';
import {ago, duration} from '../lib/format.js';
import {base} from '../lib/styles.js';
import './copy.js';

class State extends LitElement {
  static properties = {failure: {attribute: false}, slow: {type: Number}, since: {type: Number}, at: {type: Number},
    brief: {type: Boolean}};
  static styles = [base, css`
    :host { margin: var(--s2) 0; }
    .box { border-inline-start: 3px solid var(--error); padding: var(--s2) var(--s4); background: var(--error-wash);
      border-radius: 0 var(--corner) var(--corner) 0; display: grid; gap: var(--s2); justify-items: start; }
    .box.wait { border-color: var(--wait); background: var(--wait-wash); color: inherit; }
    pre { background: var(--raised); border: 1px solid var(--line); border-radius: var(--corner); padding: var(--s2) var(--s3); }
    .bones { display: grid; gap: var(--s3); padding: var(--s2) 0; }
    .bone { height: 12px; border-radius: 3px; background: var(--line); }
    .bone:nth-child(2) { width: 82%; } .bone:nth-child(3) { width: 64%; }
  `];

  #ticking;

  updated() {
    clearTimeout(this.#ticking);
    if (this.slow >= 2000 || this.at) this.#ticking = setTimeout(() => this.requestUpdate(), 1000);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.#ticking);
  }

  #tell(name) { this.dispatchEvent(new Event(name, {bubbles: true, composed: true})); }

  render() {
    if (!this.failure) return this.#slow();
    const {failure} = this;
    if (this.brief) {
      return html`<div class="box wait small" role="status">
        <span>As of ${ago(this.at)}. ${failure.message}
        <button class="plain" @click=${() => this.#tell('retry')}>Try again</button></span></div>`;
    }
    if (failure.isForbidden) {
      return html`<div class="box wait" role="alert">
        <h2>You may not ${failure.asked.verb} ${failure.asked.resource}</h2>
        <p>${failure.message}</p>
        <p>This rule in a role of yours would allow it:</p>
        <pre>${failure.rule}</pre>
        <m-copy label="Copy the rule" .text=${failure.rule}></m-copy></div>`;
    }
    return html`<div class="box" role="alert">
      <h2>${failure.isUnreachable ? 'No answer' : failure.code === 404 ? 'Not there' : 'That did not work'}</h2>
      <p>${failure.message}</p>
      <button @click=${() => this.#tell('retry')}>Try again</button></div>`;
  }

  #slow() {
    if (!this.slow) return nothing;
    const seconds = (performance.now() - this.since) / 1000;
    return html`<div class="bones" role="status" aria-label="Loading">
      <div class="bone"></div><div class="bone"></div><div class="bone"></div>
      ${this.slow >= 2000 ? html`<p class="faint small">Waiting for ${duration(seconds)}
        ${this.slow >= 5000 ? html`<button class="plain" @click=${() => this.#tell('cancel')}>Cancel</button>` : nothing}</p>` : nothing}
    </div>`;
  }
}
customElements.define('m-state', State);
