import { DeskHttp } from "./http.js";
import { FILE_BYTES_MAX, FILE_WAIT } from "./limits.js";
import type { Login } from "./login.js";

/** Files: docs/media.md. Agents and the desk exchange them by reference. */
export class Media {
  readonly #desk: DeskHttp;

  constructor(settings: { url: string; login: Login }) {
    this.#desk = new DeskHttp(settings);
  }

  /** Stores a file of at most 25 MiB for an hour, and returns the reference for `sendMedia`. */
  async upload(bytes: Uint8Array, mime: string, filename: string): Promise<string> {
    const headers = { "content-type": mime, "x-media-filename": filename };
    const call = { body: bytes, headers, waitMs: FILE_WAIT };
    const { id } = await this.#desk.json<{ id: string }>("upload a file", "/relay/media", call);
    return `${this.#desk.url}/relay/media/${id}`;
  }

  /** Returns the bytes of a reference in an event. The agent's token is sent to its own desk only. */
  async download(url: string): Promise<Uint8Array> {
    const path = /\/relay\/media\/[0-9a-f]{32}$/.exec(url)?.[0];
    if (path === undefined) throw new TypeError("not a reference of a desk");
    return this.#desk.bytes("download a file", path, { waitMs: FILE_WAIT, bytesMax: FILE_BYTES_MAX });
  }
}
