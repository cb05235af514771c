import type { ClientRequest, IncomingMessage } from "node:http";

import { WebSocket } from "ws";

import { FrameSplitter, readFrame } from "./frame.js";
import * as limits from "./limits.js";
import { Deadline, readRetryAfter } from "./timing.js";
import type { Frame } from "./wire.js";

/** The name of this client, in hellos and requests. A test compares the version with package.json. */
export const CLIENT = { name: "nightdesk-typescript", version: "0.1.0" };

/** The reason that there is no line. */
export interface Trouble {
  reason: "unreachable" | "refused" | "ended" | "silent" | "not-greeted" | "flooded" | "too-long";
  /** The reason for people, without secrets. */
  text: string;
  /** The HTTP status of a refused dial. */
  status?: number;
  /** The close code of an ended line. Of one whose token had expired there is none: the next dial has a new token. */
  code?: number | undefined;
  /** The time after which the desk wants the next dial. */
  retryAfterMs?: number;
}

/** The receiver of a line's events. */
export interface LineOwner {
  opened(): void;
  heard(frame: Frame): void;
  /** The socket took bytes. */
  drained(): void;
  /** The last event. No line is dialled before it, because the desk counts two lines of an agent as a replacement. */
  ended(why: Trouble): void;
}

/** One WebSocket to the desk, from its dial to its end. */
export class Line {
  #socket: WebSocket | undefined;
  #why: Trouble | undefined;
  #isOver = false;
  readonly #frames = new FrameSplitter();
  readonly #dialled = new Deadline(() => this.#finish(unreachable(`no answer within ${limits.DIAL_WAIT / 1000} s`)));
  readonly #dead = new Deadline(() => this.close(1001, { reason: "silent", text: "the desk stopped responding" }));
  #pings: NodeJS.Timeout | undefined;
  readonly #owner: LineOwner;

  /** Dials. */
  constructor(url: string, token: Promise<string>, owner: LineOwner) {
    this.#owner = owner;
    this.#dialled.set(limits.DIAL_WAIT);
    token
      .then((bearer) => {
        if (!this.#isOver) this.#dial(url, bearer);
      })
      // The error is not shown, because its text may contain the token.
      .catch(() => this.#finish(unreachable("the login gave no usable token")));
  }

  /** True if a further send may be written now. */
  get isWritable(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN && this.#socket.bufferedAmount < limits.SOCKET_BYTES_MAX;
  }

  /** Writes a frame. */
  write(frame: string): void {
    this.#socket?.send(frame, () => {
      if (!this.#isOver) this.#owner.drained();
    });
  }

  /** Closes the line. `why` is reported instead of the code. */
  close(code: number, why = ended(code)): void {
    this.#why ??= why;
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.close(code);
    else if (this.#socket?.readyState !== WebSocket.CLOSING) this.#finish(this.#why);
  }

  #dial(url: string, bearer: string): void {
    // `closeTimeout` is missing in the types of `ws`.
    const options = {
      headers: { authorization: `Bearer ${bearer}`, "user-agent": `${CLIENT.name}/${CLIENT.version}` },
      perMessageDeflate: false,
      maxPayload: limits.MESSAGE_BYTES_MAX,
      closeTimeout: limits.CLOSE_WAIT,
    };
    const socket = new WebSocket(url, options);
    this.#socket = socket;
    const alive = () => this.#dead.set(limits.DEAD_LINE);
    socket.on("open", () => {
      this.#dialled.clear();
      alive();
      this.#pings = setInterval(() => socket.ping(), limits.PING_EVERY);
      this.#owner.opened();
    });
    socket.on("ping", alive).on("pong", alive);
    socket.on("message", (data: Buffer) => {
      alive();
      this.#take(data);
    });
    socket.on("unexpected-response", (request: ClientRequest, response: IncomingMessage) => {
      request.destroy();
      const status = response.statusCode ?? 0;
      const text = `the desk refused the line with HTTP status ${status}; check the gateway, its secret and this clock`;
      this.#finish({ reason: "refused", text, status, retryAfterMs: readRetryAfter(response.headers["retry-after"]) });
    });
    // A close event follows each error. Of an open line it has the code.
    socket.on("error", (error: Error) => {
      if (this.#pings === undefined) this.#why ??= unreachable(error.message);
    });
    socket.on("close", (code: number, why: Buffer) => this.#finish(this.#why ?? ended(code, why.toString())));
  }

  #take(data: Buffer): void {
    const lines = this.#frames.push(data);
    if (lines === undefined) this.close(1009, { reason: "too-long", text: "the desk sent a frame that is too long" });
    for (const line of lines ?? []) {
      const frame = readFrame(line);
      // A line that is about to close still gets results, but its owner may have closed it for what it heard.
      if (frame !== undefined && !this.#isOver) this.#owner.heard(frame);
    }
  }

  #finish(why: Trouble): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#dialled.clear();
    this.#dead.clear();
    clearInterval(this.#pings);
    this.#socket?.terminate();
    this.#owner.ended(why);
  }
}

function unreachable(detail: string): Trouble {
  return { reason: "unreachable", text: `the desk cannot be reached (${detail}); check the URL and the network` };
}

function ended(code: number, why = ""): Trouble {
  const by = code === 4409 ? " (another process took over as this agent)" : "";
  const isExpired = code === 4401 && why === "expired";
  return { reason: "ended", text: `the line ended with code ${code}${by}`, code: isExpired ? undefined : code };
}
