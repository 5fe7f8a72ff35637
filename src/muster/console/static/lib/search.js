// The search of the fleet: words that become one CEL expression. The server evaluates it; nothing is matched here.
//
//   region:eu       the label holds "eu" somewhere         region=eu-west-1   the label is that
//   version:>=1.30  compared as a version (or a number)    gpu:*              the label is there
//   -tier:gold      not                                     set:prod  claim.NAME:x  taint:gpu  is:problem
//   prod-eu         in the cluster's name
const LABELS = 'managedCluster.metadata.?labels';
const CLAIMS = 'managedCluster.status.?clusterClaims.orValue([])';
const CONDITIONS = 'managedCluster.status.?conditions.orValue([])';
export const VERSION = 'managedCluster.status.?version.?kubernetes.orValue("")';
export const SET_LABEL = 'cluster.open-cluster-management.io/clusterset';

/** A text as a CEL literal: JSON escapes are CEL's. */
export const text = (value) => JSON.stringify(value);
export const label = (key) => `${LABELS}[?${text(key)}].orValue("")`;
const condition = (type, status) => `${CONDITIONS}.exists(c, c.type == ${text(type)} && c.status ${status})`;

/** Not accepted, not joined, or not available: what a person should look at first. */
export const PROBLEM = `!${condition('ManagedClusterConditionAvailable', '== "True"')}`;
const STATES = {
  problem: PROBLEM,
  available: condition('ManagedClusterConditionAvailable', '== "True"'),
  unreachable: condition('ManagedClusterConditionAvailable', '== "Unknown"'),
  unavailable: condition('ManagedClusterConditionAvailable', '== "False"'),
  joined: condition('ManagedClusterJoined', '== "True"'),
  accepted: condition('HubAcceptedManagedCluster', '== "True"'),
  tainted: 'size(managedCluster.spec.?taints.orValue([])) > 0',
};

const WORD = /(-?)(?:"((?:[^"\\]|\\.)*)"|((?:[^\s":=]|\\.)+)([:=])(?:"((?:[^"\\]|\\.)*)"|(\S*))|(\S+))/g;

/** The words of a search: {not, key, how, value}; `how` is : or =, and a word without a key is in the name. */
export function parse(search) {
  return [...search.matchAll(WORD)].map(([, not, quoted, key, how, quotedValue, value, word]) => ({
    not: Boolean(not), key: key ?? '', how: how ?? '', value: quotedValue ?? value ?? quoted ?? word ?? '',
  })).filter((each) => each.key || each.value);
}

/** {expression} or {problem}. `sets` are the ManagedClusterSets, for words about sets. */
export function compile(search, sets = []) {
  const parts = [];
  for (const word of parse(search)) {
    const made = one(word, sets);
    if (made.problem) return made;
    if (made.expression) parts.push(word.not ? `!(${made.expression})` : made.expression);
  }
  return {expression: parts.map((each) => (parts.length > 1 ? `(${each})` : each)).join(' && ')};
}

function one({key, how, value}, sets) {
  if (!key) return {expression: `managedCluster.metadata.name.contains(${text(value)})`};
  if (!value) return {expression: ''}; // still being typed
  if (key === 'name') return {expression: compared('managedCluster.metadata.name', how, value)};
  if (key === 'is') return STATES[value] ? {expression: STATES[value]} : {problem: `is: knows ${Object.keys(STATES).join(', ')}`};
  if (key === 'version') return {expression: version(value, how)};
  if (key === 'set') return members(value, sets);
  if (key === 'taint') return {expression: `managedCluster.spec.?taints.orValue([]).exists(t, t.key == ${text(value)})`};
  if (key.startsWith('claim.')) {
    const test = compared('c.value', how, value);
    return {expression: `${CLAIMS}.exists(c, c.name == ${text(key.slice(6))} && ${test})`};
  }
  if (value === '*') return {expression: `${LABELS}[?${text(key)}].hasValue()`};
  return {expression: compared(label(key), how, value)};
}

function compared(left, how, value) {
  if (how === '=') return `${left} == ${text(value)}`;
  const number = /^(>=|<=|>|<)(\d+(?:\.\d+)?)$/.exec(value);
  if (number) return `${left}.matches("^[0-9.]+$") && double(${left}) ${number[1]} ${Number(number[2]).toFixed(6)}`;
  return `${left}.contains(${text(value)})`;
}

function version(value, how) {
  const found = /^(>=|<=|>|<)v?(\d+)(?:\.(\d+))?(?:\.(\S+))?$/.exec(value);
  if (!found) return how === '=' ? `${VERSION} in [${text(value)}, ${text(`v${value}`)}]` : `${VERSION}.contains(${text(value)})`;
  const [, sign, major, minor = '0', patch = '0'] = found;
  const other = `semver(${text(`${major}.${minor}.${patch}`)})`;
  return `isSemver(${VERSION}, true) && semver(${VERSION}, true).compareTo(${other}) ${sign} 0`;
}

/** Who is in a set, from what the set says. */
function members(name, sets) {
  const set = sets.find((each) => each.metadata.name === name);
  if (!set) return {expression: `${label(SET_LABEL)} == ${text(name)}`};
  const {clusterSelector: {selectorType, labelSelector = {}} = {}, exclusiveKey = SET_LABEL} = set.spec;
  if (selectorType !== 'LabelSelector') return {expression: `${label(exclusiveKey)} == ${text(name)}`};
  const parts = Object.entries(labelSelector.matchLabels ?? {}).map(([key, value]) => `${label(key)} == ${text(value)}`);
  for (const {key, operator, values = []} of labelSelector.matchExpressions ?? []) {
    const listed = `[${values.map(text).join(', ')}]`;
    const there = `${LABELS}[?${text(key)}].hasValue()`;
    parts.push({In: `${there} && ${label(key)} in ${listed}`, NotIn: `!(${there} && ${label(key)} in ${listed})`,
      Exists: there, DoesNotExist: `!${there}`}[operator]);
  }
  return {expression: parts.map((each) => `(${each})`).join(' && ') || 'true'};
}

/** The search with a word put in, or taken out if it is there: what a click on a facet does. */
export function toggled(search, key, value) {
  const needs = /[\s":=]/.test(value) || value === '';
  const word = `${key}${key === 'set' || key === 'is' || key === 'taint' ? ':' : '='}${needs ? JSON.stringify(value) : value}`;
  const words = search.split(/\s+(?=(?:[^"]*"[^"]*")*[^"]*$)/).filter(Boolean);
  return (words.includes(word) ? words.filter((each) => each !== word) : [...words, word]).join(' ');
}

export const has = (search, key, value) => parse(search).some((each) => !each.not && each.key === key && each.value === value);
