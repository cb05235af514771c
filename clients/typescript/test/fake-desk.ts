import assert from "node:assert/strict";
import { type IncomingMessage, createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { type WebSocket, WebSocketServer } from "ws";

export type Json = Record<string, unknown>;

/** Longest wait of a test for something that must happen. */
const SOON_MS = 5_000;

/** The real timers, also while a test mocks those of the agent. */
const { setTimeout, clearTimeout } = globalThis;

/** Values that a test waits for, one after the other. */
export class Queue<T> {
  readonly #values: T[] = [];
  readonly #takers: ((value: T) => void)[] = [];

  put(value: T): void {
    const take = this.#takers.shift();
    if (take) take(value);
    else this.#values.push(value);
  }

  async next(what: string): Promise<T> {
    const [value] = this.#values.splice(0, 1);
    if (value !== undefined) return value;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`in vain for ${what}`)), SOON_MS);
      this.#takers.push((taken) => {
        clearTimeout(late);
        resolve(taken);
      });
    });
  }

  get size(): number {
    return this.#values.length;
  }
}

/** Lets happen what needs no timer of the agent. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 40));
}

/** Waits until something is so. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  for (let waitedMs = 0; !isSo(); waitedMs += 40) {
    if (waitedMs > SOON_MS) throw new Error(`in vain for ${what}`);
    await settle();
  }
}

export function descriptor(platform = "relay"): Json {
  const flags = { supports_draft_streaming: false, supports_edit: true, supports_threads: false };
  const limits = { max_message_length: 2000, len_unit: "chars", markdown_dialect: "plain" };
  return { type: "descriptor", descriptor: { contract_version: 1, platform, label: platform, ...limits, ...flags } };
}

export function inbound(bufferId: string, chat_id = "c1", text = `text of ${bufferId}`): Json {
  const source = { platform: "discord", chat_id, chat_type: "dm", user_id: "u1", user_name: "Ann" };
  const nothing = { chat_name: null, thread_id: null, chat_topic: null, is_bot: false, message_is_edit: false };
  const event = { text, message_type: "text", message_id: `m-${bufferId}`, source: { ...source, ...nothing } };
  return { type: "inbound", event, bufferId };
}

/** The desk's end of a line. */
export class FakeLine {
  readonly frames = new Queue<Json>();
  readonly closed = new Queue<number>();

  constructor(
    readonly socket: WebSocket,
    readonly request: IncomingMessage,
  ) {
    socket.on("message", (data: Buffer) => {
      for (const line of data.toString().split("\n")) if (line !== "") this.frames.put(JSON.parse(line) as Json);
    });
    socket.on("close", (code) => this.closed.put(code));
  }

  say(...frames: Json[]): void {
    this.socket.send(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(""));
  }

  /** Waits for the next frame, which must have this type. */
  async hear(type: string): Promise<Json> {
    const frame = await this.frames.next(`a frame ${type}`);
    assert.equal(frame.type, type, JSON.stringify(frame));
    return frame;
  }

  /** Answers the hellos. */
  async greet(count = 1): Promise<Json[]> {
    const hellos = [];
    for (let at = 0; at < count; at++) {
      const hello = await this.hear("hello");
      this.say(descriptor(String(hello.platform)));
      hellos.push(hello);
    }
    return hellos;
  }

  async hearAck(): Promise<unknown> {
    return (await this.hear("inbound_ack")).bufferId;
  }

  /** Waits for a send, and returns its action. */
  async hearSend(result: Json = { success: true, message_id: "m9" }): Promise<Json> {
    const { requestId, action } = await this.hear("outbound");
    this.say({ type: "outbound_result", requestId, result });
    return action as Json;
  }
}

/** A desk in the process of the test. */
export class FakeDesk {
  readonly #lines = new Queue<FakeLine>();
  readonly #http = createServer((_, response) => response.writeHead(404).end());
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true });
  /** Statuses with which the next dials are refused. */
  readonly refusals: number[] = [];

  static async open(): Promise<FakeDesk> {
    const desk = new FakeDesk();
    desk.#http.on("upgrade", (request, socket, head) => {
      const status = desk.refusals.shift();
      if (status !== undefined) {
        const retry = status === 503 ? "retry-after: 2\r\n" : "";
        socket.end(`HTTP/1.1 ${status} No\r\n${retry}content-length: 0\r\n\r\n`);
        return;
      }
      desk.#sockets.handleUpgrade(request, socket, head, (open) => desk.#lines.put(new FakeLine(open, request)));
    });
    await new Promise<void>((listening) => desk.#http.listen(0, "127.0.0.1", listening));
    return desk;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Waits for the next dial. */
  nextLine(): Promise<FakeLine> {
    return this.#lines.next("a dial");
  }

  /** Waits for the next dial, and answers the hello on it. */
  async nextLive(): Promise<FakeLine> {
    const line = await this.nextLine();
    await line.greet();
    return line;
  }

  get dials(): number {
    return this.#lines.size;
  }

  close(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#http.closeAllConnections();
    this.#http.close();
  }
}
