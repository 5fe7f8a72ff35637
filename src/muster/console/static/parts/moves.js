// What moved decisions, in words: causes with their authors, and rows of a timeline.
import {css, html, nothing} from '../../third_party/lit.js';
import {number} from '../lib/format.js';
import {to} from '../lib/router.js';

const DEEDS = {
  Created: 'was created', Changed: 'changed', Deleted: 'was deleted', ScoreExpired: 'expired',
  TolerationExpired: 'has a taint that is no longer tolerated', SeenAfterRestart: 'changed while no controller was running',
  OtherDecisions: 'nothing that the placement reads has changed; decisions of other placements count too',
  Unrecorded: 'the controllers ended before they had written down why',
};
const PAGES = {
  ManagedCluster: ({name}) => to.cluster(name),
  Placement: ({namespace, name}) => to.placement(namespace, name),
  ManagedClusterSet: ({name}) => to.set(name),
};

export const movesStyles = css`
  .moves > li { display: grid; grid-template-columns: 104px minmax(0, 1fr) auto; gap: var(--s4); padding: var(--s3) 0; align-items: baseline; }
  .moves > li + li { border-top: 1px solid var(--line); }
  .moves .stack { gap: var(--s1); } section > h2 + .moves { margin-top: var(--s2); }
  .moves li li { overflow-wrap: anywhere; }
  @media (max-width: 900px) { .moves > li { grid-template-columns: minmax(0, 1fr); gap: var(--s1); } }
`;

function deed({deed: kind = '', fields = [], note = ''}) {
  const moved = fields.map(({field, old, new: now}) => `${field} ${old || '(none)'} → ${now || '(none)'}`).join('; ');
  return `${DEEDS[kind] ?? kind}${moved ? `: ${moved}` : ''}${note ? ` (${note})` : ''}`;
}

function object(cause) {
  const name = [cause.namespace, cause.name].filter(Boolean).join('/');
  const page = cause.name && cause.deed !== 'Deleted' && PAGES[cause.kind]?.(cause);
  return page ? html`<a class="mono" href=${page}>${name}</a>` : html`<span class="mono">${name}</span>`;
}

/** Why decisions moved: each object that changed, how, and by whom. */
export const causesOf = ({causes = [], more = 0}) => html`<ul class="small faint">
  ${causes.map((each) => html`<li>${each.kind} ${object(each)} ${deed(each)}${each.manager ? ` by ${each.manager}` : ''}</li>`)}
  ${more ? html`<li>and ${number(more)} more causes</li>` : nothing}</ul>`;

/** Clusters that came or went: `names` of `count`. */
export function namesOf(kind, mark, {count = 0, examples = []} = {}) {
  if (!count) return nothing;
  return html`<span class=${kind}>${mark} ${examples.join(', ')}${count > examples.length ? ` and ${number(count - examples.length)} more` : ''}</span>`;
}
