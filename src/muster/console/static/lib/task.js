// Something that is asked for: what came, whether it is on its way, and since when. A new question ends the one before.
export class Task {
  #host; #work; #controller; #slow = [];
  value; failure; pending = false; since = 0; at = 0; slow = 0;

  constructor(host, work) {
    this.#host = host;
    this.#work = work;
    host.addController(this);
  }

  hostDisconnected() { this.cancel(); }

  cancel() {
    this.#controller?.abort();
    this.#done();
  }

  #done() {
    this.#slow.forEach(clearTimeout);
    this.#slow = [];
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
    try {
      const value = await this.#work(controller.signal, ...parameters);
      if (controller.signal.aborted) return;
      Object.assign(this, {value, failure: undefined, at: Date.now()});
      this.#done();
    } catch (error) {
      if (controller.signal.aborted || error.name === 'AbortError') return;
      this.failure = error;
      this.#done();
    }
    this.#host.requestUpdate();
  }

  reset() {
    this.cancel();
    this.value = this.failure = undefined;
  }
}
