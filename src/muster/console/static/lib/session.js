// The session of this browser: a cookie that pages cannot read, and a secret that only pages of this origin can send.
const KEY = 'muster.session';
const LINK = /^#enter=(.+)$/;

/** Tells who listens that the session began, ended or was never there. */
export const session = new EventTarget();
session.problem = '';
session.login = '';

export const secret = () => localStorage.getItem(KEY) ?? '';

/** Uses the one-time link, if this page was opened by one, and takes it out of the address. */
export async function enter() {
  const link = LINK.exec(location.hash)?.[1];
  if (!link) return;
  history.replaceState(null, '', location.pathname + location.search);
  await begin({link});
}

/** Begins a session with a one-time link or a token; what is wrong otherwise. */
export async function begin(given) {
  const answer = await fetch('/session', {
    method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(given),
  });
  const said = await answer.json();
  if (answer.ok) localStorage.setItem(KEY, said.secret);
  session.problem = answer.ok ? '' : said.message;
  session.dispatchEvent(new Event(answer.ok ? 'begun' : 'refused'));
  return session.problem;
}

export async function leave() {
  await fetch('/session', {method: 'DELETE', headers: {'X-Muster-Session': secret()}});
  localStorage.removeItem(KEY);
  ended('You have left the console.', '');
}

export function ended(problem, login) {
  session.problem ||= problem;
  session.login = login;
  session.dispatchEvent(new Event('ended'));
}
