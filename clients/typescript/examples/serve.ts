// Serves a fetch handler with Node's own server. Deno, Bun and most frameworks need no such function.
import { type Server, createServer } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";

type Handler = (request: Request) => Response | Promise<Response>;

export function serve(handler: Handler, port: number): Server {
  const server = createServer({ requestTimeout: 5_000, headersTimeout: 5_000 }, (incoming, outgoing) => {
    const { method = "GET", url = "/", headers } = incoming;
    const names = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
    const body =
      method === "GET" || method === "HEAD" ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>);
    Promise.resolve(new Request(`http://localhost${url}`, { method, headers: names, body, duplex: "half" }))
      .then(handler)
      .then(async (response) => {
        outgoing.writeHead(response.status, Object.fromEntries(response.headers));
        outgoing.end(Buffer.from(await response.arrayBuffer()));
      })
      .catch(() => outgoing.destroy());
  });
  server.maxConnections = 32;
  return server.listen(port, "127.0.0.1");
}
