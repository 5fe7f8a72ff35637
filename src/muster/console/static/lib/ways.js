// From the reasons of an explanation to the nearest change that would make a cluster fit. Reasons are values: codes decide.

const WAYS = {
  RequirementFails: ({parameters: {noun, expected}}) => (noun === 'label' ? `label it ${expected}` : `have the ${noun} ${expected}`),
  SetLabelDiffers: ({subject}) => `join ${subject?.clusterSet ?? 'the set'}`,
  TaintNotTolerated: ({parameters: {taint}}) => `tolerate ${taint}, or take the taint off`,
  SetNotBound: ({subject}) => `bind ${subject?.clusterSet ?? 'the set'} to the namespace`,
  ScoreTooLow: () => 'score higher, or let the placement want more clusters',
  RankTooLow: () => 'let the placement want more clusters',
};

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
