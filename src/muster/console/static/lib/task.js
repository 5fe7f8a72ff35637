// Something that is asked for: what came, whether it is on its way, and since when. A new question ends the one before.
const AGAIN = 2000; // ms until a question that nobody answered is asked again

export class Task {
  #host; #work; #controller; #slow = []; #stale = false; #retry = 0;
  value; failure; pending = false; since = 0; at = 0; slow = 0;

  constructor(host, work) {
    this.#host = host;
    this.#work = work;
    host.addController(this);
    (host.tasks ??= []).push(this); // for who waits until everything has come
  }

  hostDisconnected() { this.cancel(); }

  cancel() {
    this.#controller?.abort();
    this.#done();
  }

  #done() {
    this.#slow.forEach(clearTimeout);
    clearTimeout(this.#retry);
    this.#slow = [];
    this.#stale = false;
    this.pending = false;
    this.slow = 0;
  }

  /** Asks; the value stays what it was until an answer comes. */
  async run(...parameters) {
    this.cancel();
    const controller = this.#controller = new AbortController();
    this.pending = true;
    this.since = performance.now();
    // After 300 ms a skeleton, after 2 s the time, after 5 s a way to give up.
    this.#slow = [300, 2000, 5000].map((after) => setTimeout(() => {
      this.slow = after;
      this.#host.requestUpdate();
    }, after));
    this.#host.requestUpdate();
    let again = false;
    try {
      const value = await this.#work(controller.signal, ...parameters);
      if (controller.signal.aborted) return;
      again = this.#stale;
      Object.assign(this, {value, failure: undefined, at: Date.now()});
      this.#done();
    } catch (error) {
      if (controller.signal.aborted || error.name === 'AbortError') return;
      this.failure = error;
      this.#done();
      // Somebody starts, or is away for a moment: nobody should have to press a button for that.
      if (error.isUnreachable) this.#retry = setTimeout(() => this.run(...parameters), AGAIN);
    }
    this.#host.requestUpdate();
    if (again) this.run(...parameters);
  }

  /** Asks because something has changed. An answer that is on its way is waited for, and then asked for once more. */
  refresh(...parameters) {
    if (this.pending) this.#stale = true;
    else this.run(...parameters);
  }

  reset() {
    this.cancel();
    this.value = this.failure = undefined;
  }
}
