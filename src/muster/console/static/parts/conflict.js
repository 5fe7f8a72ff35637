// A conflict drawn: who requires what, from left to right, and where requirements part. At most seven nodes.
import {LitElement, css, html, nothing, svg} from '../../third_party/lit.js';
import {base} from '../lib/styles.js';

const [HIGH, ACROSS, DOWN, EDGE] = [44, 150, 30, 8];
const [LETTER, LEAST, MOST] = [7.3, 17, 30]; // pixels of a letter of a name; letters that a box has room for
const WORDS = {want: 'you want', installed: 'installed', operator: 'operator', missing: 'nothing meets', api: 'only one provides', more: ''};
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Columns by the longest way to a node; rows in the lanes of those who require it, so that lines do not run behind boxes. */
function laidOut(nodes, edges) {
  const known = edges.filter(({from, to}) => [from, to].every((id) => nodes.some((each) => each.id === id)));
  const column = new Map(nodes.map(({id}) => [id, 0]));
  for (let round = 0; round < nodes.length; round += 1) {
    for (const {from, to} of known) column.set(to, Math.min(nodes.length, Math.max(column.get(to), column.get(from) + 1)));
  }
  const row = new Map();
  const columns = [...new Set(column.values())].sort((one, other) => one - other);
  for (const x of columns) {
    const wanted = nodes.filter(({id}) => column.get(id) === x).map(({id}, at) => {
      const parents = known.filter((edge) => edge.to === id && row.has(edge.from)).map((edge) => row.get(edge.from));
      return [id, parents.length ? parents.reduce((sum, each) => sum + each, 0) / parents.length : at];
    }).sort(([, one], [, other]) => one - other);
    let free = -Infinity;
    for (const [id, y] of wanted) {
      free = Math.max(y, free + 1);
      row.set(id, free);
    }
  }
  // A column is as wide as its longest name.
  let width = 1;
  const across = new Map(columns.map((at) => {
    const longest = Math.max(LEAST, ...nodes.filter(({id}) => column.get(id) === at).map(({text}) => Math.min(text.length, MOST)));
    const [x, wide] = [width, Math.ceil(longest * LETTER) + 2 * EDGE];
    width += wide + ACROSS;
    return [at, {x, wide}];
  }));
  const place = new Map(nodes.map(({id}) => [id, {...across.get(column.get(id)), y: row.get(id) * (HIGH + DOWN) + 1}]));
  return {place, width: width - ACROSS + 1, height: (Math.max(...row.values()) + 1) * (HIGH + DOWN) - DOWN + 2};
}

class Conflict extends LitElement {
  static properties = {conflict: {attribute: false}};
  static styles = [base, css`
    .scroll { overflow-x: auto; padding-bottom: var(--s1); }
    svg { display: block; max-width: none; }
    rect { fill: var(--raised); stroke: var(--line); } .want rect { stroke: var(--accent); }
    .parts rect { stroke: var(--error); stroke-width: 2; stroke-dasharray: 5 3; fill: var(--error-wash); }
    text { font: 12px/16px var(--sans); fill: var(--faint); } text.name { font: 600 12px/16px var(--mono); fill: var(--ink); }
    text.edge { paint-order: stroke; stroke: var(--raised); stroke-width: 4px; }
    path { fill: none; stroke: var(--faint); } marker path { fill: var(--faint); stroke: none; }
  `];

  render() {
    const {nodes, edges} = this.conflict;
    const {place, width, height} = laidOut(nodes, edges);
    const named = new Map(nodes.map((each) => [each.id, each.text]));
    const told = edges.map(({from, to, text}) => `${named.get(from)} requires ${named.get(to)}: ${text}`).join('; ');
    return html`<div class="scroll" tabindex="0" role="region" aria-label="The conflict, drawn"><svg role="img" aria-label=${told} width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`}>
      <defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z"></path></marker></defs>
      ${edges.map((each) => this.#edge(each, place))}${nodes.map((each) => this.#node(each, place.get(each.id)))}</svg></div>`;
  }

  #node({kind, text, parts}, {x, y, wide}) {
    return svg`<g class=${`${kind} ${parts ? 'parts' : ''}`}><title>${text}</title><rect x=${x} y=${y} width=${wide} height=${HIGH} rx="6"></rect>
      <text x=${x + EDGE} y=${y + 17}>${parts ? `✕ ${WORDS[kind] || kind}` : WORDS[kind] ?? kind}</text><text class="name" x=${x + EDGE} y=${y + 34}>${short(text, MOST)}</text></g>`;
  }

  #edge({from, to, text, through}, place) {
    const [start, end] = [place.get(from), place.get(to)];
    if (!start || !end) return nothing;
    const [x1, y1, x2, y2] = [start.x + start.wide, start.y + HIGH / 2, end.x, end.y + HIGH / 2];
    const label = through.length ? `${text} (by ${through.join(', ')})` : text;
    return svg`<g><title>${label}</title><path d=${`M${x1} ${y1} C${x1 + 40} ${y1} ${x2 - 40} ${y2} ${x2 - 2} ${y2}`} marker-end="url(#tip)"></path>
      <text class="edge" x=${(x1 + x2) / 2} y=${(y1 + y2) / 2 - 6} text-anchor="middle">${short(label, 22)}</text></g>`;
  }
}
customElements.define('m-conflict', Conflict);
