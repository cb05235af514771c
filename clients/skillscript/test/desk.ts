import { type IncomingMessage, type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that the test server received. */
export interface Asked {
  method: string;
  path: string;
  bearer: string;
  body: Record<string, unknown>;
}

/** Response of the test server: a status and a body, a closed connection, or silence. */
export type Answer = [status: number, body: unknown] | "hangs up" | "says nothing";

/** A test server that sends scripted responses and records its requests. */
export class FakeDesk {
  readonly asked: Asked[] = [];
  private answers: Answer[] = [];

  private constructor(private readonly server: Server) {}

  static async open(): Promise<FakeDesk> {
    const server = createServer();
    const desk = new FakeDesk(server);
    server.on("request", async (request, response) => {
      desk.asked.push(await read(request));
      const answer = desk.answers.shift() ?? [200, {}];
      if (answer === "hangs up") return request.socket.destroy();
      if (answer === "says nothing") return undefined;
      const [status, body] = answer;
      return response.writeHead(status, { "content-type": "application/json" }).end(written(body));
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return desk;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Queues the next responses. */
  will(...answers: Answer[]): void {
    this.answers.push(...answers);
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

async function read(request: IncomingMessage): Promise<Asked> {
  let text = "";
  for await (const chunk of request) text += chunk;
  const bearer = (request.headers.authorization ?? "").replace(/^Bearer /, "");
  const body = text === "" ? {} : JSON.parse(text);
  return { method: request.method ?? "", path: request.url ?? "", bearer, body };
}

function written(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}
