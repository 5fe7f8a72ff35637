// Live by watch: a screen names the collections it shows, and hears when they have changed. One state for the frame.
import {versionOf, watch} from './api.js';

/** Whether what is shown is live: `state` is live, connecting, waiting (with `until`) or none (with `why`). */
export const connection = new EventTarget();
Object.assign(connection, {state: 'none', until: 0, why: '', lost: 0});

function told(facts) {
  Object.assign(connection, facts);
  connection.dispatchEvent(new Event('change'));
}

const QUIET = 250; // ms in which changes are gathered before a screen hears of them
const STEADY = 5000; // ms after which a connection counts as good again
const LONGEST = 15000;
const CATCHING_UP = 30000; // ms after a lost connection in which whoever answers may be behind: he had lost it, too
const EVERY = 3000;

/**
 * Watches collections while the screen is there and the window is seen. Calls `changed` at most four times a second.
 * `also` are collections that are watched by those who may; a screen is live without them.
 */
export class Live {
  #host; #resources; #changed; #also; #controller; #timer = 0; #catching = 0; #onVisible = () => this.#toggle();

  constructor(host, resources, changed, also = []) {
    this.#host = host;
    this.#also = also;
    this.#resources = resources;
    this.#changed = changed;
    host.addController(this);
  }

  hostConnected() {
    document.addEventListener('visibilitychange', this.#onVisible);
    this.#toggle();
  }

  hostDisconnected() {
    document.removeEventListener('visibilitychange', this.#onVisible);
    this.#stop();
    told({state: 'none', why: '', lost: 0});
  }

  #toggle() {
    if (document.hidden) this.#stop();
    else if (!this.#controller) this.#start();
  }

  #stop() {
    this.#controller?.abort();
    this.#controller = undefined;
    clearTimeout(this.#timer);
    clearInterval(this.#catching);
    this.#timer = 0;
  }

  #start() {
    const {signal} = this.#controller = new AbortController();
    const open = new Set();
    for (const each of [...this.#resources, ...this.#also]) this.#keep(each, signal, open);
  }

  async #keep(resource, signal, open) {
    let pause = 500;
    let missed = false;
    while (!signal.aborted) {
      const began = performance.now();
      try {
        const version = await versionOf(resource, signal);
        if (missed) this.#catchUp();
        open.add(resource);
        if (this.#resources.every((each) => open.has(each))) told({state: 'live', why: '', lost: 0});
        for await (const event of watch(resource, version, signal)) {
          if (event.type === 'ERROR') break;
          if (event.type !== 'BOOKMARK') this.#soon();
        }
      } catch (error) {
        if (signal.aborted) return;
        if ([401, 403, 404].includes(error.code)) {
          if (!this.#also.includes(resource)) told({state: 'none', why: error.message});
          return;
        }
      }
      if (signal.aborted) return;
      open.delete(resource);
      missed = true;
      pause = performance.now() - began > STEADY ? 500 : Math.min(pause * 2, LONGEST);
      told({state: 'waiting', until: Date.now() + pause, lost: connection.lost || Date.now()});
      await new Promise((done) => {
        const timer = setTimeout(done, pause);
        signal.addEventListener('abort', () => (clearTimeout(timer), done()), {once: true});
      });
      if (!signal.aborted) told({state: 'connecting'});
    }
  }

  /** What was missed is asked for at once, and some times more: an answer of this moment may be an old one. */
  #catchUp() {
    const end = performance.now() + CATCHING_UP;
    clearInterval(this.#catching);
    this.#catching = setInterval(() => {
      if (performance.now() > end) clearInterval(this.#catching);
      else this.#soon();
    }, EVERY);
    this.#soon();
  }

  #soon() {
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      if (this.#host.isConnected) this.#changed();
    }, QUIET);
  }
}
