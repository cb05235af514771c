// Answers each message with its text, exactly once, over a line, polls, or posts. `wait 5 WORD` takes five seconds.
import { setTimeout as sleep } from "node:timers/promises";

import {
  BusyError,
  CallError,
  Desk,
  NoLineError,
  Poll,
  RevokedError,
  UnknownError,
  webhookHandler,
} from "../../../clients/typescript/dist/src/index.js";
import { serve } from "../../../clients/typescript/dist/examples/serve.js";

const AGAIN_AFTER = 500;
const { NIGHTDESK_URL: url, NIGHTDESK_GATEWAY: gateway, NIGHTDESK_SECRET: secret } = process.env;
const login = { gateway, secret };

/** Takes the time of the turn. False: the turn was stopped. */
async function think({ text, signal }) {
  const [word, seconds] = text.split(" ");
  if (word !== "wait") return true;
  return sleep(Number(seconds) * 1000, true, { signal }).catch(() => false);
}

/** Sends the reply under an id made of the entry's: the desk sends it once, however often it is asked. */
async function reply(desk, { id, event, text }) {
  const op = { op: "send", content: text, reply_to: event.message_id ?? undefined };
  for (;;) {
    try {
      return await desk.act(event.source, op, `reply-${id}`);
    } catch (error) {
      if (!(error instanceof UnknownError || error instanceof NoLineError || error instanceof BusyError)) throw error;
      await sleep(AGAIN_AFTER);
    }
  }
}

async function runLine() {
  const desk = Desk.connect({ url, login }).idleOn("SIGTERM", "SIGINT");
  await desk.run(async (entry) => {
    if (await think(entry)) await reply(desk, entry);
  });
}

/** Turns of different chats run at once, those of one chat in order; meanwhile the takes go on. */
async function runPolls() {
  const poll = new Poll({ url, login });
  const running = new Map();
  const lastOfSession = new Map();
  const turn = async (entry, before) => {
    await before;
    if (await think(entry)) {
      while (!(await isSent(poll, entry))) await sleep(AGAIN_AFTER);
    }
    await poll.ack(entry.id);
  };
  for (;;) {
    try {
      for (const entry of await poll.take()) {
        // An entry comes again on a new line, while its turn of the line before still runs.
        if (running.has(entry.id)) continue;
        const work = turn(entry, lastOfSession.get(entry.session))
          .catch(giveUpIfRevoked)
          .finally(() => running.delete(entry.id));
        running.set(entry.id, entry);
        lastOfSession.set(entry.session, work);
      }
    } catch (error) {
      giveUpIfRevoked(error);
      if (!(error instanceof CallError)) throw error;
      if (error.status !== 410) await sleep(AGAIN_AFTER);
    }
  }
}

/** Sends the reply if there is a line: the next take opens one. */
async function isSent(poll, entry) {
  try {
    await reply(poll, entry);
    return true;
  } catch (error) {
    giveUpIfRevoked(error);
    return false;
  }
}

function giveUpIfRevoked(error) {
  if (error instanceof RevokedError || (error instanceof CallError && error.status === 403)) {
    console.error("the desk revoked this gateway");
    process.exit(1);
  }
}

const handler = async (entry) => ((await think(entry)) ? entry.text : undefined);

switch (process.env.NIGHTDESK_TRANSPORT) {
  case "polling":
    await runPolls();
    break;
  case "webhook":
    serve(webhookHandler(process.env.NIGHTDESK_WEBHOOK_SECRET, handler), Number(process.env.PORT));
    break;
  default:
    await runLine().catch(giveUpIfRevoked);
}
