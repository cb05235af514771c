// Answers each message with its text, over HTTP alone.
import { setTimeout } from "node:timers/promises";

import { CallError, Poll } from "nightdesk";

const { NIGHTDESK_URL: url = "", NIGHTDESK_GATEWAY: gateway = "", NIGHTDESK_SECRET: secret = "" } = process.env;
const poll = new Poll({ url, login: { gateway, secret } });
for (;;) {
  try {
    for (const entry of await poll.take()) {
      await poll.send(entry.event.source, entry.text, { replyTo: entry.event.message_id ?? undefined });
      await poll.ack(entry.id ?? "");
    }
  } catch (error) {
    // A line that is gone, such as after a restart of the desk, is opened anew by the next take.
    if (!(error instanceof CallError && (error.passes || error.status === 410))) throw error;
    await setTimeout(Math.max(1_000 + 4_000 * Math.random(), error.retryAfterMs));
  }
}
