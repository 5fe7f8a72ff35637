// Every view is a URL. Screens stand in `screens.js`; this finds the one for an address and moves between them.
import {SCREENS} from '../screens.js';

export const router = new EventTarget();

const compiled = SCREENS.map((screen) => ({
  screen,
  pattern: new RegExp(`^${screen.path.replace(/:(\w+)/g, '(?<$1>[^/]+)')}/?$`),
}));

/** The screen of the present address, its parameters, and its query; what is too long for a query is behind the #. */
export function current() {
  for (const {screen, pattern} of compiled) {
    const found = pattern.exec(location.pathname);
    if (found) {
      const params = Object.fromEntries(Object.entries(found.groups ?? {}).map(([key, text]) => [key, decode(text)]));
      return {screen, params, query: new URLSearchParams(`${location.search}&${location.hash.slice(1)}`)};
    }
  }
  return undefined;
}

function decode(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

export function href(path, query = {}) {
  const given = Object.entries(query).filter(([, text]) => text !== undefined && text !== '');
  return path + (given.length ? `?${new URLSearchParams(given)}` : '');
}

export const to = {
  fleet: (search) => href('/fleet', {q: search}),
  cluster: (name) => `/clusters/${encodeURIComponent(name)}`,
  placement: (namespace, name) => `/placements/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`,
  why: (namespace, name, cluster) => `${to.placement(namespace, name)}/why/${encodeURIComponent(cluster)}`,
  set: (name) => `/sets/${encodeURIComponent(name)}`,
  playground: (query) => href('/playground', query),
  /** A plan of labels ([{name, labels}] of clusters) and of YAML, which is not sent to the server of pages: it may be long. */
  plan: ({labels = [], ...more}) => href('/plan', {labels: labels.length ? JSON.stringify(labels) : '', ...more}).replace('?', '#'),
  hosts: (query) => href('/hosts', query),
  resolution: (namespace, name, query) => href(`/operators/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`, query),
};

export function go(url, {replace = false} = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', url);
  router.dispatchEvent(new Event('change'));
}

/** Keeps the address in step with what is typed, without a step back for each letter. */
export const note = (url) => history.replaceState(null, '', url);

addEventListener('popstate', () => router.dispatchEvent(new Event('change')));
addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.composedPath().find((each) => each.localName === 'a' && each.href);
  if (!link || link.target || link.hasAttribute('download') || new URL(link.href).origin !== location.origin) return;
  event.preventDefault();
  go(link.getAttribute('href'));
});
