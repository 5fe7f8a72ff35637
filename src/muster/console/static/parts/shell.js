// The frame: where one can go, what one is connected to, whether it is live; and the screen of the present address.
import {LitElement, css, html, nothing} from '../../third_party/lit.js';
import {request} from '../lib/api.js';
import {duration} from '../lib/format.js';
import {connection} from '../lib/live.js';
import {current, router} from '../lib/router.js';
import {begin, leave, secret, session} from '../lib/session.js';
import {base} from '../lib/styles.js';
import {applyTheme, theme} from '../lib/theme.js';
import {SCREENS} from '../screens.js';
import './copy.js';
import './palette.js';

class Shell extends LitElement {
  static properties = {place: {state: true}, facts: {state: true}, out: {state: true}, menu: {state: true},
    commands: {state: true}, broken: {state: true}};
  static styles = [base, css`
    :host { min-height: 100vh; display: grid; grid-template-rows: auto 1fr; }
    header { display: flex; align-items: center; gap: var(--s1); padding: 0 var(--s5); min-height: 48px; border-bottom: 1px solid var(--line);
      background: var(--paper); position: sticky; top: 0; z-index: 20; }
    .brand { display: flex; align-items: center; gap: var(--s2); color: var(--ink); font-weight: 600; margin-inline-end: var(--s4); }
    .brand:hover { text-decoration: none; }
    .brand svg { width: 18px; height: 18px; }
    nav { display: flex; gap: 2px; overflow-x: auto; scrollbar-width: none; }
    nav a { color: var(--faint); padding: 6px 10px; border-radius: var(--corner); white-space: nowrap; }
    nav a:hover { color: var(--ink); text-decoration: none; background: var(--hover); }
    nav a[aria-current] { color: var(--ink); background: var(--hover); font-weight: 500; }
    .right { margin-inline-start: auto; display: flex; align-items: center; gap: var(--s2); }
    .find { color: var(--faint); display: flex; gap: var(--s5); align-items: center; background: none; }
    kbd { font: 11px/14px var(--sans); border: 1px solid var(--line); border-radius: 3px; padding: 1px 4px; }
    .server { border: 0; background: none; display: flex; align-items: center; gap: 7px; padding: 5px var(--s2); max-width: 260px; }
    .server span.name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
    .dot { width: 8px; height: 8px; border-radius: 50%; flex: none; border: 2px solid var(--faint); }
    .dot.live { background: var(--yes); border-color: var(--yes); }
    .dot.waiting, .dot.connecting { border-color: var(--wait); }
    .pane { position: absolute; inset-inline-end: var(--s4); top: 46px; width: min(360px, 92vw); background: var(--raised); border: 1px solid var(--line);
      border-radius: var(--corner); box-shadow: var(--shadow); padding: var(--s4); display: grid; gap: var(--s3); z-index: 30; }
    dl { display: grid; grid-template-columns: auto 1fr; gap: 2px var(--s3); margin: 0; }
    dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
    main { padding: var(--s5); min-width: 0; outline: none; display: grid; grid-template: auto 1fr / minmax(0, 1fr); max-width: 2200px; width: 100%; margin: 0 auto; }
    main:focus-visible { outline: none; }
    .screen { min-width: 0; }
    .lost { background: var(--wait-wash); border-block-end: 1px solid var(--line); padding: 5px var(--s5); }
    .login { max-width: 480px; margin: 12vh auto 0; padding: 0 var(--s5); display: grid; gap: var(--s4); }
    .login form { display: grid; gap: var(--s3); }
    .skip { position: absolute; left: -999px; } .skip:focus { left: var(--s4); top: var(--s3); background: var(--raised); padding: var(--s2); z-index: 50; }
    .top { display: flex; justify-content: flex-end; height: 0; position: relative; z-index: 10; }
    @media (max-width: 720px) { header { padding: 0 var(--s3); flex-wrap: wrap; } .find span { display: none; } main { padding: var(--s3); }
      nav { order: 3; width: 100%; padding-bottom: var(--s1); } .server span.name { max-width: 90px; } }
  `];

  constructor() {
    super();
    this.facts = {};
    this.commands = {};
    this.menu = false;
    router.addEventListener('change', () => this.#arrive());
    connection.addEventListener('change', () => this.requestUpdate());
    for (const each of ['ended', 'refused']) session.addEventListener(each, () => {
      this.out = true;
      this.requestUpdate();
    });
    session.addEventListener('begun', () => this.#begun());
    this.addEventListener('described', (event) => this.#described(event.composedPath()[0]));
    addEventListener('keydown', (event) => this.#key(event));
    setInterval(() => { if (connection.state === 'waiting' || connection.lost) this.requestUpdate(); }, 1000);
  }

  connectedCallback() {
    super.connectedCallback();
    if (location.hash.startsWith('#enter=')) return; // main.js is about to use the link
    if (secret()) this.#begun();
    else this.#who(); // nobody; the refusal says how to get in
  }

  #begun() {
    this.out = false;
    session.problem = '';
    this.#arrive();
    this.#who();
  }

  async #who() {
    try {
      const facts = await (await request('GET', '/session')).json();
      this.facts = facts;
      const review = await request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews',
        {body: {apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview'}});
      this.facts = {...facts, user: (await review.json()).status.userInfo};
    } catch (error) {
      this.facts = {...this.facts, problem: error.message};
    }
  }

  async #arrive() {
    const found = current();
    this.menu = false;
    try {
      await found?.screen.module();
      this.broken = '';
    } catch (error) {
      this.broken = error.message;
    }
    const moved = this.place?.screen !== found?.screen;
    this.place = found ?? {};
    if (moved) {
      this.commands = {};
      await this.updateComplete;
      scrollTo(0, 0);
      this.shadowRoot.querySelector('main')?.focus({preventScroll: true});
    }
  }

  #described(screen) {
    const next = screen.commands;
    if (JSON.stringify(next) !== JSON.stringify(this.commands)) this.commands = next;
  }

  #key(event) {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      this.shadowRoot.querySelector('m-palette')?.open();
    } else if (event.key === 'Escape') this.menu = false;
  }

  get #screen() {
    const {screen, params, query} = this.place ?? {};
    if (this.broken) return html`<m-state .failure=${{code: 0, isUnreachable: true, message: `This screen could not be loaded: ${this.broken}`}} @retry=${() => this.#arrive()}></m-state>`;
    if (!this.place) return nothing;
    if (!screen) return html`<div class="stack"><h1>There is no such page</h1><p><a href="/fleet">Go to the fleet</a></p></div>`;
    // The element is made by name: screens are modules that this file does not know.
    if (this.made?.localName !== screen.element) this.made = document.createElement(screen.element);
    if (this.shown !== this.place) {
      this.shown = this.place;
      Object.assign(this.made, {params, query});
    }
    return this.made;
  }

  render() {
    if (this.out) return this.#login();
    const at = this.place?.screen?.nav || this.place?.screen?.under || 'Fleet';
    return html`
      <header>
        <button class="skip" @click=${this.#skip}>Skip to the content</button>
        <a class="brand" href="/fleet">${logo}<span>muster</span></a>
        <nav aria-label="Screens">${SCREENS.filter((each) => each.nav).map((each) => html`
          <a href=${each.path} aria-current=${each.nav === at ? 'page' : nothing}>${each.nav}</a>`)}</nav>
        <div class="right">
          <m-copy-as .commands=${this.commands}></m-copy-as>
          <button class="find" @click=${() => this.shadowRoot.querySelector('m-palette').open()} aria-label="Search everything">
            <span>Search</span><kbd>Ctrl K</kbd></button>
          <button class="server" aria-expanded=${this.menu} aria-haspopup="dialog" @click=${() => { this.menu = !this.menu; }}>
            <span class="dot ${connection.state}" aria-hidden="true"></span><span class="name">${this.facts.context || 'server'}</span>
            <span class="sr">, ${this.#connected()}</span></button>
        </div>
        ${this.menu ? this.#pane() : nothing}
      </header>
      <main id="main" tabindex="-1">
        <div role="status">${connection.lost ? html`<p class="lost small">Connection lost. What you see is from ${duration((Date.now() - connection.lost) / 1000)} ago.
          ${connection.state === 'waiting' ? html`Trying again in ${duration((connection.until - Date.now()) / 1000)}.` : 'Trying again …'}</p>` : nothing}</div>
        <div class="screen ${connection.lost ? 'stale' : ''}">${this.#screen}</div>
      </main>
      <m-palette .facts=${this.facts}></m-palette>`;
  }

  #skip() {
    this.shadowRoot.querySelector('main').focus();
  }

  #connected() {
    return {live: 'live', connecting: 'connecting', waiting: 'reconnecting', none: 'not live'}[connection.state];
  }

  #pane() {
    const {user} = this.facts;
    return html`<div class="pane" role="dialog" aria-label="Connection">
      <dl>
        <dt>Server</dt><dd class="mono">${this.facts.server}</dd>
        <dt>Context</dt><dd>${this.facts.context || '–'}</dd>
        <dt>You are</dt><dd>${user?.username ?? this.facts.problem ?? '…'}</dd>
        ${user?.groups?.length ? html`<dt>Groups</dt><dd class="small">${user.groups.join(', ')}</dd>` : nothing}
        <dt>Updates</dt><dd>${this.#connected()}${connection.why ? html`<br><span class="small faint">${connection.why}</span>` : nothing}</dd>
      </dl>
      <label class="row">Theme
        <select @change=${(event) => applyTheme(event.target.value)}>
          ${['system', 'light', 'dark'].map((each) => html`<option ?selected=${each === theme()}>${each}</option>`)}
        </select></label>
      <p><button @click=${leave}>Leave the console</button></p>
    </div>`;
  }

  #login() {
    const problem = session.problem;
    if (session.login === 'token') {
      return html`<div class="login"><h1>Muster</h1><p>Log in with a bearer token of the server's. It is kept in a cookie that pages cannot read.</p>
        <form @submit=${this.#submit}><label for="token">Token</label>
          <input id="token" type="password" autocomplete="off" required aria-describedby="problem">
          <button class="primary">Log in</button><p id="problem" class="error" role="alert">${this.tried ? problem : ''}</p></form>
        <p class="faint small">A token for a service account: <code>kubectl create token NAME</code></p></div>`;
    }
    return html`<div class="login"><h1>This browser is not let in yet</h1>
      <p>${problem || 'The console opens with the link that `muster console` prints. The link works once.'}</p>
      <p class="faint">Start <code>muster console</code> again for a new link, or take one from a window that is open:
        Ctrl K, “link for another browser”.</p></div>`;
  }

  async #submit(event) {
    event.preventDefault();
    const field = this.shadowRoot.querySelector('#token');
    session.problem = '';
    await begin({token: field.value.trim()});
    this.tried = true;
    this.requestUpdate();
  }
}

const logo = html`<svg viewBox="0 0 16 16" aria-hidden="true"><rect x="0.5" y="0.5" width="15" height="15" rx="3.5" fill="var(--accent)"/>
  <rect x="4" y="4" width="3.5" height="8" rx="1" fill="var(--on-accent)"/><rect x="8.5" y="4" width="3.5" height="3.5" rx="1" fill="var(--on-accent)" opacity=".75"/>
  <rect x="8.5" y="8.5" width="3.5" height="3.5" rx="1" fill="var(--on-accent)" opacity=".45"/></svg>`;
customElements.define('m-shell', Shell);
