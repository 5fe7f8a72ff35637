// What happened to one cluster, the latest first: from its own object, and from what is written down of placements.

const WORDS = {
  HubAcceptedManagedCluster: {True: 'was accepted', False: 'was not accepted'},
  ManagedClusterJoined: {True: 'joined', False: 'has not joined'},
  ManagedClusterConditionAvailable: {True: 'became available', False: 'became unavailable', Unknown: 'became unreachable'},
};
const SIGNS = {True: 'yes', False: 'error', Unknown: 'error'};

function ownEvents({metadata, spec = {}, status = {}}) {
  return [
    {time: metadata.creationTimestamp, sign: 'open', text: 'was added'},
    ...(status.conditions ?? []).map(({type, status: found, message, lastTransitionTime: time}) => ({
      time, sign: SIGNS[found] ?? 'open', text: WORDS[type]?.[found] ?? `${type} became ${found}`, note: message,
    })),
    ...(spec.taints ?? []).map(({key, value, effect, timeAdded: time}) => ({
      time, sign: 'wait', text: `was tainted ${key}${value ? `=${value}` : ''}`, note: effect,
    })),
  ].filter((each) => each.time);
}

/** Whether a cluster is among some of which only the first are named: true, false, or undefined for nobody knows. */
function isAmong(name, {count = 0, examples = []} = {}) {
  if (examples.includes(name)) return true;
  return count > examples.length && name > (examples.at(-1) ?? '') ? undefined : false;
}

/** {events, unknown}: `unknown` counts moves of so many clusters that only the first of them are named. */
export function happened(cluster, histories) {
  const {name} = cluster.metadata;
  const events = ownEvents(cluster);
  let unknown = 0;
  for (const {metadata, changes = []} of histories) {
    for (const change of changes) {
      const [gained, lost] = [isAmong(name, change.gained), isAmong(name, change.lost)];
      if (gained || lost) {
        const flip = change.flips?.find((each) => each.cluster === name);
        events.push({time: change.time, sign: gained ? 'yes' : 'no', placement: metadata, gained: Boolean(gained), flip, change});
      } else if (gained === undefined || lost === undefined) unknown += 1;
    }
  }
  events.reverse(); // of the same second, what was written down later comes first
  return {events: events.sort((one, other) => Date.parse(other.time) - Date.parse(one.time)), unknown};
}
