// From the reasons of an explanation to the nearest change that would make a cluster fit. Reasons are values: codes decide.

const WAYS = {
  RequirementFails: ({parameters: {noun, expected}}) => (noun === 'label' ? `label it ${expected}` : `have the ${noun} ${expected}`),
  SetLabelDiffers: ({subject}) => `join ${subject?.clusterSet ?? 'the set'}`,
  TaintNotTolerated: ({parameters: {taint}}) => `tolerate ${taint}, or take the taint off`,
  SetNotBound: ({subject}) => `bind ${subject?.clusterSet ?? 'the set'} to the namespace`,
  ScoreTooLow: () => 'score higher, or let the placement want more clusters',
  RankTooLow: () => 'let the placement want more clusters',
};

const CLUSTER = 'cluster.open-cluster-management.io/v1';

/** The labels that a change of labels would take: `cloud=Amazon`, `tier in (gold,silver)`, `!gpu`, or joining a set. */
const EDITS = {
  RequirementFails: ({parameters: {noun, expected = ''}}) => {
    if (noun !== 'label') return {};
    const [, key, value] = /^([^\s=!]+)=(.*)$/.exec(expected) ?? /^(\S+) in \(([^,)]+)/.exec(expected) ?? [];
    if (key) return {[key]: value};
    const [, absent] = /^!(\S+)$/.exec(expected) ?? [];
    return absent ? {[absent]: null} : {};
  },
  SetLabelDiffers: ({parameters: {key}, subject}) => (key && subject?.clusterSet ? {[key]: subject.clusterSet} : {}),
};

/** One edit of a cluster's labels, as a plan has it; empty where labels are not what is missing. */
export function editsIn(reasons, name) {
  const labels = {};
  const walk = (reason) => {
    Object.assign(labels, EDITS[reason.code]?.({parameters: {}, ...reason}));
    (reason.parts ?? []).forEach(walk);
  };
  reasons.forEach(walk);
  return Object.keys(labels).length ? [{name, labels}] : [];
}

export const labelEdit = ({name, labels}) => ({apiVersion: CLUSTER, kind: 'ManagedCluster', name, labels});

/** What would have to change, each thing once; empty when the codes do not tell. */
export function waysIn(why) {
  const found = new Set();
  const walk = (reason) => {
    const way = WAYS[reason.code]?.({parameters: {}, ...reason});
    if (way) found.add(way);
    (reason.parts ?? []).forEach(walk);
  };
  walk(why);
  return [...found];
}
