// An agent with the SDK for TypeScript that works on each message until it is stopped.
import { once } from "node:events";

const { Desk } = await import(process.env.NIGHTDESK_TS_SDK);
const { NIGHTDESK_URL: url, NIGHTDESK_GATEWAY: gateway, NIGHTDESK_SECRET: secret } = process.env;

const desk = Desk.connect({ url, login: { gateway, secret } });
await desk.run(async (entry) => {
  entry.ack();
  const { source } = entry.event;
  // A letter has no place for unfinished answers.
  const op = { op: "send", content: "working on it", metadata: { running: true } };
  await desk.act(source, op).catch(() => undefined);
  console.log("began", source.chat_id);
  if (!entry.signal.aborted) await once(entry.signal, "abort");
  console.log("stopped", source.chat_id);
});
