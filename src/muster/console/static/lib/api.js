// Requests to the API server, by way of the console's own: questions, objects, watches. Refusals become Failure.
import {ended, secret} from './session.js';

const VERBS = {GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch'};
export const RESOURCES = {
  managedclusters: ['cluster.open-cluster-management.io', 'v1'],
  managedclustersets: ['cluster.open-cluster-management.io', 'v1beta2'],
  managedclustersetbindings: ['cluster.open-cluster-management.io', 'v1beta2'],
  placements: ['cluster.open-cluster-management.io', 'v1beta1'],
  placementdecisions: ['cluster.open-cluster-management.io', 'v1beta1'],
  addonplacementscores: ['cluster.open-cluster-management.io', 'v1alpha1'],
  placementhistories: ['placement.muster.dev', 'v1alpha1'],
  placementguardrecords: ['placement.muster.dev', 'v1alpha1'],
  agents: ['agent-install.openshift.io', 'v1beta1'],
  agentclassifications: ['agent-install.openshift.io', 'v1beta1'],
  resolutions: ['resolution.muster.dev', 'v1alpha1'],
};
export const QUESTIONS = 'fleet.muster.dev/v1alpha1';

/** A refusal: what was said, and what was asked for, so that a missing permission can be named. */
export class Failure extends Error {
  constructor(code, reason, message, asked) {
    super(message);
    Object.assign(this, {code, reason, asked});
  }

  get isForbidden() { return this.code === 403 && this.reason === 'Forbidden' && Boolean(this.asked?.resource); }
  get isUnreachable() { return this.code === 0 || this.code === 502 || this.code === 503 || this.code === 504; }

  /** The rule that would have allowed it. */
  get rule() {
    const {verb, group, resource} = this.asked;
    return rule(group, resource, verb);
  }
}

/** A rule of a role. */
export const rule = (group, resource, ...verbs) => `- apiGroups: ["${group}"]\n  resources: ["${resource}"]\n  verbs: ${JSON.stringify(verbs)}\n`;

export function path(resource, {namespace = '', name = '', group, version} = {}) {
  const [ownGroup, ownVersion] = RESOURCES[resource] ?? [group, version];
  const inside = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `/apis/${ownGroup}/${ownVersion}${inside}/${resource}${name ? `/${encodeURIComponent(name)}` : ''}`;
}

export async function request(method, url, {body, type = 'application/json', accept = 'application/json', signal} = {}) {
  const headers = {Accept: accept, 'X-Muster-Session': secret()};
  if (body !== undefined) headers['Content-Type'] = type;
  const asked = describe(method, url);
  let answer;
  try {
    const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    answer = await fetch(url, {method, headers, signal, redirect: 'error', body: sent});
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Failure(0, 'Unreachable', 'The console does not answer. Is `muster console` still running?', asked);
  }
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({message: `The server answered with code ${answer.status}.`}));
  if (answer.status === 401) ended(said.message, answer.headers.get('X-Muster-Login') ?? '');
  throw new Failure(answer.status, said.reason ?? '', said.message ?? '', asked);
}

function describe(method, url) {
  const parts = /^\/apis\/([^/]+)\/[^/]+(?:\/namespaces\/[^/]+)?\/([^/?]+)(\/[^/?]+)?(.*)$/.exec(url);
  if (!parts) return {};
  const many = parts[3] ? VERBS[method] : /[?&]watch=/.test(parts[4]) ? 'watch' : method === 'GET' ? 'list' : VERBS[method];
  return {verb: many, group: parts[1], resource: parts[2]};
}

export const plural = (kind) => kind.toLowerCase() + (kind.endsWith('s') ? '' : 's');
export const question = (kind, spec) => ({apiVersion: QUESTIONS, kind, spec});

/** Asks a question about the fleet; the status of the answer. */
export async function ask(kind, spec, signal) {
  const answer = await request('POST', `/apis/${QUESTIONS}/${plural(kind)}`, {body: question(kind, spec), signal});
  return (await answer.json()).status;
}

export const get = async (resource, where, signal) =>
  (await request('GET', path(resource, where), {signal})).json();

/** A list; at most `limit` objects, and whether there are more. */
export async function list(resource, {limit = 500, namespace, labels, signal} = {}) {
  const query = new URLSearchParams({limit, ...(labels ? {labelSelector: labels} : {})});
  const answer = await request('GET', `${path(resource, {namespace})}?${query}`, {signal});
  const found = await answer.json();
  return {items: found.items, more: found.metadata.remainingItemCount ?? (found.metadata.continue ? 1 : 0)};
}

/** Whether the user may do something to an object, as the server says. */
export async function may(verb, resource, {namespace = '', name = ''}, signal) {
  const [group] = RESOURCES[resource];
  const body = {apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: {resourceAttributes: {verb, group, resource, namespace, name}}};
  return (await (await request('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {body, signal})).json()).status.allowed;
}

/** Names alone of a collection, at most 500: objects may be large. */
export async function names(resource, signal) {
  return (await request('GET', `${path(resource)}?limit=500`, {accept: LISTED, signal})).json();
}

/** YAML text as objects. A text that cannot be read is a Failure whose `line` says where. */
export async function fromYaml(text, signal) {
  const answer = await request('POST', '/yaml', {body: text, type: 'application/yaml', signal});
  return answer.json();
}

export async function toYaml(object, signal) {
  return (await request('POST', '/yaml', {body: object, signal, accept: 'application/yaml'})).text();
}

/** Lines of a watch, as objects, until the server ends it. */
export async function* watch(resource, resourceVersion, signal) {
  const query = new URLSearchParams({watch: 'true', resourceVersion, allowWatchBookmarks: 'true'});
  const answer = await request('GET', `${path(resource)}?${query}`, {accept: METADATA, signal});
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  while (true) {
    const {done, value} = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.trim()) yield JSON.parse(line);
  }
}

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const LISTED = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** The version of a collection now, to watch from. */
export async function versionOf(resource, signal) {
  const answer = await request('GET', `${path(resource)}?limit=1`, {accept: LISTED, signal});
  return (await answer.json()).metadata.resourceVersion;
}
