// Writes what a plan has planned, as the plan has it, object by object; what came of each is told.
import {get, may, request, RESOURCES} from './api.js';

export const MANAGER = 'muster-console';
const PLURALS = {
  ManagedCluster: 'managedclusters', ManagedClusterSet: 'managedclustersets', ManagedClusterSetBinding: 'managedclustersetbindings',
  Placement: 'placements', AgentClassification: 'agentclassifications', Resolution: 'resolutions',
};
// What others live in or refer to goes first.
const FIRST = ['ManagedClusterSet', 'ManagedClusterSetBinding', 'ManagedCluster'];

/** Whether the console writes objects of this kind; others have a command. */
export const isWritten = ({apiVersion = '', kind}) => RESOURCES[PLURALS[kind]]?.[0] === apiVersion.split('/')[0];

const place = ({apiVersion, kind, name, namespace, metadata = {}}) => {
  const where = namespace ?? metadata.namespace;
  const inside = where ? `/namespaces/${encodeURIComponent(where)}` : '';
  return `/apis/${apiVersion}${inside}/${PLURALS[kind]}/${encodeURIComponent(name ?? metadata.name)}`;
};

const WAYS = {
  label: (edit) => request('PATCH', `${place(edit)}?fieldManager=${MANAGER}`,
    {body: {metadata: {labels: edit.labels}}, type: 'application/merge-patch+json'}),
  apply: (object, force) => request('PATCH', `${place(object)}?fieldManager=${MANAGER}&force=${force}`,
    {body: object, type: 'application/apply-patch+yaml'}),
  replace: (object) => request('PUT', `${place(object)}?fieldManager=${MANAGER}`, {body: object}),
};

/** Objects that replace what is there, with the version that they replace; those that are not there are applied: {replace, objects}. */
export async function replacing(objects, signal) {
  const found = await Promise.all(objects.map(async (object) => {
    if (!isWritten(object) || !object.metadata?.name) return undefined;
    const present = await request('GET', place(object), {signal}).then((answer) => answer.json(), (error) => {
      if (error.code === 404) return undefined;
      throw error;
    });
    return present && {...object, metadata: {...object.metadata, resourceVersion: present.metadata.resourceVersion}};
  }));
  const [replace, created] = [found.filter(Boolean), objects.filter((_, at) => !found[at])];
  return {...(replace.length ? {replace} : {}), ...(created.length ? {objects: created} : {})};
}

/** Writes all; [{kind, namespace, name, failure}]. What is refused does not keep the others from being written. */
export async function writeAll({labels = [], objects = [], replace = [], forceConflicts = false}) {
  const steps = [...labels.map((each) => ['label', each]), ...objects.map((each) => ['apply', each]), ...replace.map((each) => ['replace', each])]
    .sort(([, one], [, other]) => rank(one) - rank(other));
  const told = [];
  for (const [way, object] of steps) {
    const {kind, namespace = object.metadata?.namespace, name = object.metadata?.name} = object;
    const failure = await WAYS[way](object, forceConflicts).then(() => undefined, (error) => error);
    told.push({kind, namespace, name, failure});
  }
  return told;
}

const rank = ({kind}) => (FIRST.indexOf(kind) + FIRST.length + 1) % (FIRST.length + 1);

/** What of a placement waits for an approval: the record of its guards, if there is one; and the verbs that the user lacks to approve it. */
export async function heldRemovals(where, signal) {
  const held = await get('placementguardrecords', where, signal).then((found) => found.held, (error) => {
    if ([403, 404].includes(error.code)) return undefined;
    throw error;
  });
  if (!held) return {};
  const verbs = ['patch', 'approve'];
  const allowed = await Promise.all(verbs.map((verb) => may(verb, 'placements', where, signal)));
  return {held, missing: verbs.filter((_, at) => !allowed[at])};
}

/** Lets exactly the change go that has this digest. */
export const approve = ({namespace, name}, digest) => request('PATCH',
  `${place({apiVersion: 'cluster.open-cluster-management.io/v1beta1', kind: 'Placement', namespace, name})}?fieldManager=muster-approve`,
  {body: {metadata: {annotations: {'placement.muster.dev/approve-removals': digest}}}, type: 'application/merge-patch+json'});
