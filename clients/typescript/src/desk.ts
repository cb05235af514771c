import { Actions, type Route } from "./actions.js";
import { Entry } from "./entry.js";
import { RevokedError } from "./errors.js";
import * as limits from "./limits.js";
import { CLIENT, Line, type Trouble } from "./line.js";
import { type Login, bearer, checkLogin, lineUrl } from "./login.js";
import { Sends } from "./sends.js";
import { Backoff, Bell, Deadline, after } from "./timing.js";
import { Turns } from "./turns.js";
import type { Action, Descriptor, Frame, SendResult } from "./wire.js";

/** A bot that the agent speaks for. */
export interface Bot {
  platform: string;
  /** The platform's id of the bot. Empty or absent: every bot of the agent on that platform. */
  id?: string;
  /** Slash commands for Discord. */
  commands?: { name: string; description: string; options?: unknown[] }[];
}

export interface Settings {
  /** The desk's URL, such as `https://desk.example`. */
  url: string;
  login: Login;
  /** Default: all bots of the agent. */
  bots?: Bot[];
  /** The agent falls asleep after this time of quiet in milliseconds: 5 s to a day. Default: never. */
  sleepAfter?: number;
  /** Called with each new status. */
  onStatus?: (status: Status) => void;
}

/** The reason that an agent has ended. `cut-short`: it went idle, but the desk or a turn did not end in time. */
export type End = "disconnected" | "idle" | "cut-short" | "asleep" | "revoked";

/** The state of the line. A lost line is dialled again by itself. */
export type Status =
  | { state: "dialling" }
  /** `descriptors`: one for each bot of the settings, in order. */
  | { state: "live"; descriptors: Descriptor[] }
  | { state: "resting"; why: Trouble; restMs: number }
  | { state: "over"; end: End };

const REVOKED = "the desk revoked this gateway; get a new secret and connect again";

/**
 * An agent at its desk. It dials, maintains and redials its line by itself until it is over. Sends work across lines;
 * those to one chat are executed in the order of the calls.
 */
export class Desk extends Actions {
  readonly #settings: Settings;
  readonly #bots: Bot[];
  readonly #backoff = new Backoff();
  readonly #turns = new Turns<Entry>((id) => this.#write({ type: "inbound_ack", bufferId: id }));
  readonly #sends = new Sends(() => (this.#isLive ? this.#line : undefined));
  #line: Line | undefined;
  #isLive = false;
  #descriptors: Descriptor[] = [];
  #status: Status = { state: "dialling" };
  #trouble: Trouble | undefined;
  readonly #statusBell = new Bell();

  /** Why the line goes idle, and whether the desk has confirmed it. Work cancels `quiet`. */
  #idling: { why: "told" | "quiet"; isConfirmed: boolean } | undefined;
  #end: End | undefined;
  readonly #signals: NodeJS.Signals[] = [];
  readonly #redial = new Deadline(() => this.#dial());
  readonly #greeted = new Deadline(() => this.#giveUp("not-greeted", "the desk did not answer every hello"));
  readonly #lived = new Deadline(() => this.#backoff.reset());
  readonly #quiet = new Deadline(() => this.#sleepIfQuiet());
  readonly #idleLate = new Deadline(() => this.#hangUp(this.#idling?.why === "quiet" ? "asleep" : "cut-short"));

  private constructor(settings: Settings) {
    super();
    checkSettings(settings);
    this.#settings = settings;
    this.#bots = settings.bots?.length ? settings.bots : [{ platform: "relay" }];
    this.#dial();
  }

  /** Begins to dial. An unreachable desk is no error here: `handshake` and `onStatus` report the progress. */
  static connect(settings: Settings): Desk {
    return new Desk(settings);
  }

  /** Waits for a line, at most half a minute, and returns a descriptor for each bot of the settings, in order. */
  async handshake(): Promise<Descriptor[]> {
    await Promise.race([this.#until("live", "over"), after(limits.HANDSHAKE_WAIT)]);
    if (this.#status.state === "live") return this.#status.descriptors;
    if (this.#status.state === "over") await this.ended();
    throw new Error(`no line; ${this.#trouble?.text ?? "the desk did not answer yet"}`);
  }

  /** Waits until the agent is over. Throws if the gateway was revoked. */
  async ended(): Promise<End> {
    await this.#until("over");
    if (this.#end === undefined || this.#end === "revoked") throw new RevokedError(REVOKED);
    return this.#end;
  }

  /**
   * Returns the entries, one after the other. An entry is acknowledged when the loop asks for the next one; it is not if
   * the loop is left by an error, a `break` or a `return` before that. Several loops may run side by side.
   */
  async *entries(): AsyncGenerator<Entry, void, undefined> {
    for (let entry = await this.#turns.next(); entry; entry = await this.#turns.next()) {
      let isHandled = false;
      try {
        yield entry;
        isHandled = true;
      } finally {
        this.#endTurn(entry, isHandled);
      }
    }
    await this.ended();
  }

  /**
   * Calls the handler for each entry until the agent is over: one at a time for each session, in order, and for up to
   * twelve sessions at once. An entry is acknowledged when its handler returned, and comes again if it threw; `failed`
   * then gets the error.
   */
  async run(handler: (entry: Entry) => unknown, failed = reportFailure): Promise<End> {
    const worker = async () => {
      for (let entry = await this.#turns.next(); entry; entry = await this.#turns.next()) {
        const [turn] = await Promise.allSettled([Promise.resolve(entry).then(handler)]);
        this.#endTurn(entry, turn.status === "fulfilled");
        if (turn.status === "rejected") failed(turn.reason, entry);
      }
    };
    await Promise.all(Array.from({ length: limits.TURNS_MAX }, worker));
    return this.ended();
  }

  /**
   * Reports to the desk that the agent sleeps, waits until the desk has confirmed it and every turn has ended, at most
   * eight seconds, and hangs up. Further entries wait at the desk.
   */
  async goIdle(): Promise<End> {
    this.#goIdle();
    return this.ended();
  }

  /** Goes idle when the process gets one of these signals. `entries` and `run` then end, and the process can exit. */
  idleOn(...signals: NodeJS.Signals[]): this {
    this.#signals.push(...signals);
    for (const signal of signals) process.on(signal, this.#goIdle);
    return this;
  }

  /** Acknowledges an entry before its turn ends. */
  ack(entry: Entry): void {
    this.#turns.ack(entry);
    this.#work();
  }

  /** Hangs up at once. Entries that are not acknowledged come again when the agent next connects. */
  disconnect(): void {
    this.#hangUp("disconnected");
  }

  protected override request(action: Action, route: Route, requestId: string): Promise<SendResult> {
    this.#work();
    const botId = route.botId ?? this.#bots.find((bot) => bot.platform === route.platform && bot.id)?.id;
    const sent = this.#sends.request(action, { platform: route.platform, botId }, requestId);
    return sent.finally(() => this.#work());
  }

  #dial(): void {
    this.#show({ state: "dialling" });
    const { url, login } = this.#settings;
    this.#line = new Line(lineUrl(url), bearer(login), {
      opened: () => this.#opened(),
      heard: (frame) => this.#heard(frame),
      drained: () => this.#sends.flush(),
      ended: (why) => this.#lineEnded(why),
    });
  }

  #opened(): void {
    this.#greeted.set(limits.GREET_WAIT);
    this.#lived.set(limits.LIVED);
    for (const { platform, id = "", commands } of this.#bots) {
      this.#write({ type: "hello", platform, botId: id, command_manifest: commands, client: CLIENT });
    }
  }

  #heard(frame: Frame): void {
    // An entry that arrives while the line closes waits at the desk.
    if (this.#end && frame.type !== "result") return;
    if (frame.type !== "idle") this.#work();
    switch (frame.type) {
      case "descriptor":
        this.#greet(frame.descriptor);
        break;
      case "entry":
        if (!this.#turns.accept(new Entry(this, frame))) this.#giveUp("flooded", "the desk exceeded its window");
        break;
      case "result":
        this.#sends.answer(frame.requestId, frame.result);
        break;
      case "interrupt": {
        const stopped = this.#turns.stop(frame.session_key);
        if (frame.stop_id) this.#write({ type: "interrupt_result", stop_id: frame.stop_id, stopped });
        break;
      }
      case "idle":
        if (this.#idling) this.#idling.isConfirmed = true;
        this.#hangUpIfIdle();
    }
  }

  #greet(descriptor: Descriptor): void {
    if (this.#isLive) return;
    this.#descriptors.push(descriptor);
    if (this.#descriptors.length < this.#bots.length) return;
    this.#greeted.clear();
    this.#isLive = true;
    this.#show({ state: "live", descriptors: this.#descriptors });
    this.#sends.flush();
  }

  #endTurn(entry: Entry, isHandled: boolean): void {
    this.#turns.end(entry, isHandled);
    this.#work();
    this.#hangUpIfIdle();
  }

  #giveUp(reason: Trouble["reason"], text: string): void {
    this.#line?.close(1001, { reason, text });
  }

  #lineEnded(why: Trouble): void {
    for (const deadline of [this.#greeted, this.#lived, this.#quiet, this.#idleLate]) deadline.clear();
    [this.#line, this.#isLive, this.#descriptors] = [undefined, false, []];
    this.#turns.lineEnded();
    this.#sends.lineEnded();
    const idling = this.#idling;
    this.#idling = undefined;
    // A line that was only quiet is dialled again: the desk may not know of the intended sleep.
    if (idling?.why === "told") this.#end ??= idling.isConfirmed && this.#turns.isSettled ? "idle" : "cut-short";
    const isRevoked = why.code === 4401;
    if (isRevoked && this.#backoff.isRevoked()) this.#end ??= "revoked";
    if (this.#end) {
      this.#finish(this.#end);
      return;
    }
    const restMs = isRevoked ? 0 : Math.max(this.#backoff.next(why.code === 1012), why.retryAfterMs ?? 0);
    this.#trouble = why;
    this.#redial.set(restMs);
    this.#show({ state: "resting", why, restMs });
  }

  /** Records work: an agent falls asleep only without any for a while. */
  #work(): void {
    if (this.#idling?.why === "quiet") {
      this.#idling = undefined;
      this.#idleLate.clear();
    }
    if (this.#settings.sleepAfter !== undefined && !this.#end) this.#quiet.set(this.#settings.sleepAfter);
  }

  /** Never without a line: the entry that the agent was woken for may not have arrived. Work sets the timer again. */
  #sleepIfQuiet(): void {
    const isSettled = this.#turns.isSettled && this.#sends.isSettled && !this.#turns.hasUnacked;
    if (this.#isLive && isSettled && !this.#idling) this.#beginIdle("quiet");
  }

  readonly #goIdle = (): void => {
    if (this.#end || this.#idling?.why === "told") return;
    if (this.#isLive) this.#beginIdle("told");
    // Without a line the desk already knows; but turns may still run.
    else this.#hangUp(this.#turns.isSettled ? "idle" : "cut-short");
  };

  #beginIdle(why: "told" | "quiet"): void {
    const isNew = !this.#idling;
    this.#idling = { why, isConfirmed: this.#idling?.isConfirmed ?? false };
    if (isNew) {
      this.#idleLate.set(limits.IDLE_WAIT);
      this.#write({ type: "going_idle" });
    }
    this.#hangUpIfIdle();
  }

  #hangUpIfIdle(): void {
    if (!this.#idling?.isConfirmed || !this.#turns.isSettled) return;
    this.#hangUp(this.#idling.why === "told" ? "idle" : "asleep");
  }

  #hangUp(end: End): void {
    if (this.#end) return;
    this.#end = end;
    this.#redial.clear();
    if (this.#line) this.#line.close(1000);
    else this.#finish(end);
  }

  #finish(end: End): void {
    this.#quiet.clear();
    for (const signal of this.#signals) process.off(signal, this.#goIdle);
    this.#sends.end();
    this.#turns.finish();
    this.#show({ state: "over", end });
  }

  #write(frame: object): void {
    this.#line?.write(`${JSON.stringify(frame)}\n`);
  }

  #show(status: Status): void {
    this.#status = status;
    this.#statusBell.ring();
    // An error of the callback is the application's, and must not stop the line.
    queueMicrotask(() => this.#settings.onStatus?.(status));
  }

  async #until(...states: Status["state"][]): Promise<void> {
    while (!states.includes(this.#status.state)) await this.#statusBell.heard();
  }
}

/** Reports a failed turn without the error's text, which may contain a message. */
function reportFailure(error: unknown, entry: Entry): void {
  const name = error instanceof Error ? error.name : "error";
  console.error(`nightdesk: the turn of entry ${entry.id ?? "without id"} failed: ${name}`);
}

/** Throws if no agent can connect with these settings. */
function checkSettings({ url, login, bots = [], sleepAfter }: Settings): void {
  lineUrl(url);
  checkLogin(login);
  if (bots.length > limits.HELLOS_MAX) throw new TypeError(`over ${limits.HELLOS_MAX} bots; use several gateways`);
  if (sleepAfter !== undefined && !(sleepAfter >= limits.SLEEP_AFTER_MIN && sleepAfter <= limits.SLEEP_AFTER_MAX)) {
    throw new TypeError(`an agent sleeps after ${limits.SLEEP_AFTER_MIN} ms to ${limits.SLEEP_AFTER_MAX} ms of quiet`);
  }
}
