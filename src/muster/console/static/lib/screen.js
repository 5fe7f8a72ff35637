// What screens have in common: parameters of the address, a title, the commands that show the same, sessions and state.
import {LitElement, html, nothing} from '../../third_party/lit.js';
import {base} from './styles.js';
import '../parts/state.js';

export class Screen extends LitElement {
  static properties = {params: {attribute: false}, query: {attribute: false}};
  static styles = [base];

  constructor() {
    super();
    this.params = {};
    this.query = new URLSearchParams();
  }

  /** What the window is called. */
  get heading() { return ''; }

  /** {kubectl, muster, curl}: the view in other words. */
  get commands() { return {}; }

  /** The address has changed while this screen stays. */
  arrived() {}

  updated(changed) {
    if (changed.has('params') || changed.has('query')) this.arrived();
    if (this.heading) document.title = `${this.heading} · Muster`;
    this.dispatchEvent(new CustomEvent('described', {bubbles: true, composed: true}));
  }

  /** The value of a task, or what stands in its place. */
  shown(task, render) {
    if (task.value === undefined && task.failure) return html`<m-state .failure=${task.failure} @retry=${this.arrived}></m-state>`;
    if (task.value === undefined) {
      return task.slow ? html`<m-state .slow=${task.slow} .since=${task.since} @cancel=${() => task.cancel()}></m-state>` : nothing;
    }
    const old = task.failure
      ? html`<m-state brief .failure=${task.failure} .at=${task.at} @retry=${this.arrived}></m-state>` : nothing;
    return html`${old}${render(task.value)}`;
  }
}
