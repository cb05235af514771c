import { Actions, type Route } from "./actions.js";
import { Delivered } from "./entry.js";
import * as errors from "./errors.js";
import { frameOf, readResult } from "./frame.js";
import { type Call, DeskHttp, parseObject } from "./http.js";
import { ACK_IDS_MAX, CALL_WAIT, RESULT_WAIT, TAKE_BYTES_MAX, TAKE_WAIT_SECS_MAX } from "./limits.js";
import { CLIENT } from "./line.js";
import type { Login } from "./login.js";
import { HandledIds } from "./turns.js";
import type { Action, SendResult } from "./wire.js";

/**
 * The line over HTTP, for processes that can hold no socket. It keeps no line of its own in the background: call `take`
 * again and again, ack what was handled, and take again after a `CallError` whose `passes` is true, not before its
 * `retryAfterMs`. An agent that the desk calls by webhook never takes: its acks and sends need no line.
 */
export class Poll extends Actions {
  readonly #desk: DeskHttp;
  readonly #hellos: object[] | undefined;
  readonly #handled = new HandledIds();
  /** Entries that were taken and not acked: at most the desk's window. */
  readonly #held = new Map<string, Delivered>();
  #line: string | undefined;

  constructor(settings: { url: string; login: Login; bots?: { platform: string; id?: string }[] }) {
    super();
    this.#desk = new DeskHttp(settings);
    this.#hellos = settings.bots?.map(({ platform, id = "" }) => ({ platform, botId: id }));
  }

  /**
   * Waits for entries, and fires the signals of stopped ones. An entry that was handled before is only acked again. After
   * the loss of a line, entries that are not acked come again: end their turns before the next take.
   */
  async take(waitSecs = 25): Promise<Delivered[]> {
    const wait_seconds = Math.min(waitSecs, TAKE_WAIT_SECS_MAX);
    const opening = this.#line === undefined ? { client: CLIENT, hellos: this.#hellos } : {};
    const limits = { waitMs: wait_seconds * 1000 + CALL_WAIT, bytesMax: TAKE_BYTES_MAX };
    const { line, frames } = await this.#call("take", { wait_seconds, ...opening }, limits);
    if (typeof line !== "string" || !Array.isArray(frames)) {
      throw new errors.CallError("take entries", "the desk's response is no window", "unreadable");
    }
    this.#line = line;
    const entries: Delivered[] = [];
    for (const frame of frames.map(frameOf)) {
      // These calls are hints. If one fails, the entry or the stop comes again, and the entries are not lost.
      if (frame?.type === "interrupt") await this.#stop(frame.session_key, frame.stop_id).catch(() => undefined);
      if (frame?.type !== "entry" || frame.id === undefined || this.#held.has(frame.id)) continue;
      if (this.#handled.has(frame.id)) await this.ack(frame.id).catch(() => undefined);
      else entries.push(new Delivered(frame));
    }
    for (const entry of entries) this.#held.set(entry.id ?? "", entry);
    return entries;
  }

  /** Acknowledges entries that were handled. If it throws, they come again and are only acked. */
  async ack(...ids: string[]): Promise<void> {
    for (const id of ids) {
      this.#handled.add(id);
      this.#held.delete(id);
    }
    for (let at = 0; at < ids.length; at += ACK_IDS_MAX) {
      await this.#call("ack", { buffer_ids: ids.slice(at, at + ACK_IDS_MAX) });
    }
  }

  /** Reports that the agent sleeps. The line ends. */
  async goIdle(): Promise<void> {
    await this.#call("idle", {});
    this.#forget();
  }

  protected override async request(action: Action, route: Route, requestId: string): Promise<SendResult> {
    const line = this.#line;
    const send = { request_id: requestId, platform: route.platform, bot_id: route.botId, action };
    try {
      return readResult(await this.#call("send", send, { waitMs: RESULT_WAIT + CALL_WAIT }));
    } catch (error) {
      if (!(error instanceof errors.CallError)) throw error;
      // A line that had a name may have ended after the send.
      if (error.status === 410 && line === undefined) throw new errors.NoLineError();
      if (error.status === 429) throw new errors.BusyError();
      const isRefused = error.status !== undefined && error.status !== 410 && !error.passes;
      throw isRefused ? new errors.FailedError(error.message) : new errors.UnknownError(requestId);
    }
  }

  async #stop(session: string, stop_id: string | undefined): Promise<void> {
    const entry = [...this.#held.values()].find((held) => held.session === session);
    entry?.stop();
    if (stop_id) await this.#call("stopped", { stop_id, stopped: entry !== undefined });
  }

  /** Calls a route of the line. A line that is gone is forgotten; unacknowledged entries come again on the next one. */
  async #call(route: string, request: object, limits: Omit<Call, "body"> = {}): Promise<Record<string, unknown>> {
    try {
      const call = { body: { line: this.#line, ...request }, ...limits };
      return parseObject(await this.#desk.bytes(`${route} on the line`, `/v1/line/${route}`, call));
    } catch (error) {
      if (error instanceof errors.CallError && error.status === 410) this.#forget();
      throw error;
    }
  }

  #forget(): void {
    this.#line = undefined;
    this.#held.clear();
  }
}
