import { SAME_WAKE, WAKE_SECRET_MAX, WAKE_SECRET_MIN } from "./limits.js";
import { isSameText } from "./login.js";
import { Bell } from "./timing.js";

/**
 * Waits for a desk's wake calls. `fetch` answers `GET /wake/<secret>` with 204 at once and everything else with 404. Calls
 * that arrive together are one wake, and a call that arrives while nothing waits is stored.
 */
export class WakeCalls {
  readonly #path: string;
  #isCalled = false;
  #wokenAt = -Infinity;
  readonly #bell = new Bell();
  readonly #now: () => number;

  constructor(secret: string, now = () => performance.now()) {
    this.#now = now;
    const [min, max] = [WAKE_SECRET_MIN, WAKE_SECRET_MAX];
    if (secret.length < min || secret.length > max || /[^A-Za-z0-9_-]/.test(secret)) {
      throw new TypeError(`the secret of a wake call has ${min} to ${max} letters, digits, - and _`);
    }
    this.#path = `/wake/${secret}`;
  }

  /** Answers a request. It is a function of its own, for servers that call fetch handlers. */
  readonly fetch = (request: Request): Response => {
    const { pathname } = new URL(request.url);
    if (request.method !== "GET" || !isSameText(pathname, this.#path)) return new Response(null, { status: 404 });
    // A call directly after a wake belongs to it: the woken agent has not dialled yet, or gets the entry of the call.
    this.#isCalled ||= this.#now() - this.#wokenAt >= SAME_WAKE;
    this.#bell.ring();
    return new Response(null, { status: 204 });
  };

  /** Waits for a wake. */
  async woken(): Promise<void> {
    while (!this.#isCalled) await this.#bell.heard();
    [this.#isCalled, this.#wokenAt] = [false, this.#now()];
  }
}
