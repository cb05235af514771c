import { type IncomingMessage, type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** A request that the server received. */
export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: Buffer;
}

/** A response: a status and a body, a closed connection, or silence. */
export type Answer = [status: number, body?: unknown, headers?: Record<string, string>] | "hangs up" | "says nothing";

/** A server with scripted responses, which the end of the test closes. */
export class FakeHttp {
  readonly asked: Asked[] = [];
  readonly #answers: Answer[] = [];

  private constructor(private readonly server: Server) {}

  static async open(t: TestContext): Promise<FakeHttp> {
    const server = createServer();
    const fake = new FakeHttp(server);
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { method = "", url = "", headers } = request;
        fake.asked.push({ method, path: url, headers, body: Buffer.concat(chunks) });
        const answer = fake.#answers.shift() ?? [200, {}];
        if (answer === "hangs up") request.socket.destroy();
        if (typeof answer === "string") return;
        const [status, body, more] = answer;
        const bytes = body instanceof Uint8Array || body === undefined ? body : JSON.stringify(body);
        response.writeHead(status, { location: "/elsewhere", ...more }).end(bytes);
      });
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    t.after(() => {
      server.closeAllConnections();
      server.close();
    });
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Queues the next responses. */
  will(...answers: Answer[]): void {
    this.#answers.push(...answers);
  }

  /** Returns the requests until now, each as method, path and JSON body. */
  calls(): unknown[][] {
    return this.asked.splice(0).map(({ method, path, body }) => {
      const json: unknown[] = body.length === 0 ? [] : [JSON.parse(body.toString())];
      return [method, path, ...json];
    });
  }
}
