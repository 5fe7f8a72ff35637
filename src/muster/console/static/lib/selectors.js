// Label selectors as kubectl writes them (`cloud=Amazon,tier in (gold,silver),!gpu`), as the API's matchExpressions.
const TERM = /^\s*(?:(!)\s*([^\s=!,()]+)|([^\s=!,()]+)\s*(?:(==|=|!=)\s*([^\s,()]*)|\s(in|notin)\s*\(([^)]*)\))?)\s*$/;

/** {selector} or {problem, from, to}. */
export function parseSelector(text) {
  const expressions = [];
  let at = 0;
  for (const term of text.split(/,(?![^(]*\))/)) {
    const from = at;
    at += term.length + 1;
    if (!term.trim()) continue;
    const found = TERM.exec(term);
    if (!found) return {problem: 'write key, !key, key=value, key!=value, key in (a,b) or key notin (a,b)', from, to: from + term.length};
    const [, not, absent, key, sign, value, word, listed] = found;
    const values = listed?.split(',').map((each) => each.trim()).filter(Boolean);
    if (not) expressions.push({key: absent, operator: 'DoesNotExist'});
    else if (word) expressions.push({key, operator: word === 'in' ? 'In' : 'NotIn', values});
    else if (sign) expressions.push({key, operator: sign === '!=' ? 'NotIn' : 'In', values: [value]});
    else expressions.push({key, operator: 'Exists'});
  }
  return {selector: {matchExpressions: expressions}};
}
