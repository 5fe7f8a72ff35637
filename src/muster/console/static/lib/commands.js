// What a view is in other words: the command that shows the same. Words are quoted, so that a name stays a name.
import {path, plural, question, QUESTIONS} from './api.js';

const quote = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
/** A text for a command's standard input. A line of it that is the word of the end would end it, and the rest would be commands. */
export function heredoc(text) {
  let end = 'EOF';
  while (text.split('\n').includes(end)) end += '_';
  return `<<'${end}'\n${text.trimEnd()}\n${end}`;
}
const document = (body) => heredoc(JSON.stringify(body, null, 2));
export const words = (...parts) => parts.filter(Boolean).map(quote).join(' ');

/** A question, as kubectl and curl ask it; `muster` is a command of its own where there is one. */
export function asked(kind, spec, muster = '') {
  const body = question(kind, spec);
  return {
    kubectl: `kubectl create --validate=false -o yaml -f - ${document(body)}`,
    muster,
    curl: curl('POST', `/apis/${QUESTIONS}/${plural(kind)}`, body),
  };
}

/** An object, as kubectl and curl read it. */
export function read(resource, {namespace = '', name = ''} = {}, muster = '') {
  return {
    kubectl: words('kubectl', 'get', resource, name, namespace && '-n', namespace, name && '-o', name && 'yaml'),
    muster: muster || words('muster', 'get', resource, name, namespace && '-n', namespace),
    curl: curl('GET', path(resource, {namespace, name})),
  };
}

function curl(method, url, body) {
  const head = `curl --cacert ca.crt -H "Authorization: Bearer $TOKEN"`;
  if (body === undefined) return `${head} "$SERVER${url}"`;
  return `${head} -X ${method} -H 'Content-Type: application/json' "$SERVER${url}" -d @- ${document(body)}`;
}
